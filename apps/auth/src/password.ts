import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError } from '@gatehouse/http';

const argon2Async = promisify(argon2);

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const phcForm = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/**
 * Password hashes that may run at the same time. One core is left for everything else: refresh,
 * JWKS and /user must stay fast under a flood of sign-ins. So is one thread of libuv's pool, in
 * which their signatures are made and checked too; it has four threads, whatever the machine.
 */
export const hashConcurrency = (cores: number, poolThreads: number): number =>
  Math.max(1, Math.min(cores, poolThreads) - 1);

export interface PasswordOptions {
  /** Hashes at the same time. Each takes one core, for 5 to 35 ms, and 19 MiB. */
  concurrency: number;
  /** Hashes that may wait. One more is refused. */
  maxQueued: number;
}

export interface Passwords {
  /**
   * Throws as the others would right now, before anything is done for the request.
   * @throws {ApiError} `overloaded`, with `Retry-After` by how long the queue takes
   */
  assertCapacity(): void;
  /** @throws {ApiError} `overloaded` */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one of the hash. Without a hash it takes as long and is false, so
   * that an unknown address cannot be told from a wrong password.
   * @throws {ApiError} `overloaded`
   */
  verify(password: string, hash: string | null | undefined): Promise<boolean>;
  /** Hashes under way and waiting, for metrics. */
  readonly load: number;
}

/**
 * argon2id (RFC 9106) in Node's thread pool, so many at a time and no more: a flood of sign-ins
 * is refused early instead of making everybody wait.
 */
export function createPasswords({ concurrency, maxQueued }: PasswordOptions): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];
  /** How long one hash took lately, smoothed, in milliseconds. */
  let hashMs = 10;

  function assertCapacity() {
    if (running < concurrency || waiting.length < maxQueued) return;
    const queueSeconds = Math.ceil((waiting.length * hashMs) / concurrency / 1000);
    throw new ApiError('overloaded', {
      headers: { 'Retry-After': `${Math.max(1, queueSeconds)}` },
    });
  }

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    assertCapacity();
    if (running >= concurrency) {
      // Whoever finishes hands its place over without freeing it.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      hashMs += (performance.now() - startedAt - hashMs) / 8;
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    assertCapacity,
    get load() {
      return running + waiting.length;
    },
    hash: (password) =>
      bounded(async () => {
        const nonce = randomBytes(16);
        const { memory, passes, parallelism } = parameters;
        const tag = await derive(password, { ...parameters, nonce });
        return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
      }),
    verify: (password, hash) =>
      bounded(async () => {
        const [, memory, passes, parallelism, salt, tag] = phcForm.exec(hash ?? decoyHash) ?? [];
        if (!salt || !tag) throw new Error('A stored password hash is not in the argon2id form.');
        const expected = Buffer.from(tag, 'base64');
        const actual = await derive(password, {
          memory: Number(memory),
          passes: Number(passes),
          parallelism: Number(parallelism),
          tagLength: expected.length,
          nonce: Buffer.from(salt, 'base64'),
        });
        return timingSafeEqual(actual, expected) && hash != null;
      }),
  };
}

const derive = (password: string, options: Omit<Argon2Parameters, 'message'>): Promise<Buffer> =>
  argon2Async('argon2id', { ...options, message: normalizePassword(password) });

/** NIST SP 800-63B: the same password typed on two keyboards is the same password. */
export const normalizePassword = (password: string): string => password.normalize('NFKC');

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const decoyHash = `$argon2id$v=19$m=${parameters.memory},t=${parameters.passes},p=${parameters.parallelism}$${base64(Buffer.alloc(16))}$${base64(Buffer.alloc(32))}`;

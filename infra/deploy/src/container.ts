import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Image } from './build-image.ts';

const execute = promisify(execFile);

/** A process started from the folder of an image, as the image's user where we may. */
export interface Container {
  name: string;
  /** The exit code; null after a signal. */
  exited: Promise<number | null>;
  /** Everything it wrote. */
  output(): string;
  isHealthy(): Promise<boolean>;
  stop(signal: NodeJS.Signals): void;
}

export interface ContainerOptions {
  name: string;
  image: Image;
  /** In place of the image's CMD. */
  command?: string[] | undefined;
  env: Record<string, string>;
}

export function startContainer({ name, image, command, env }: ContainerOptions): Container {
  const options = {
    cwd: join(image.root, image.workdir),
    // Nothing of our own environment; and no place to write, as with a read-only root.
    env: { PATH: join(image.root, 'usr/local/bin'), TMPDIR: '/nowhere', ...image.env, ...env },
    ...identity(image.user),
  };
  const [file = '', ...args] = inFolder(image, [
    ...image.entrypoint,
    ...(command ?? image.command),
  ]);
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const exited = new Promise<number | null>((done) => {
    child.on('error', (error) => {
      output += error.message;
      done(null);
    });
    child.on('close', done);
  });
  const [check = '', ...checkArgs] = image.healthcheck;
  return {
    name,
    exited,
    output: () => output,
    isHealthy: () =>
      execute(check, checkArgs, options).then(
        () => true,
        () => false,
      ),
    stop: (signal) => void child.kill(signal),
  };
}

/** Only root may become somebody else. */
function identity(user: string | undefined): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = (user ?? '').split(':').map(Number);
  if (!uid || !gid) throw new Error('the image runs as root: USER must be uid:gid');
  return { uid, gid };
}

const inFolder = (image: Image, words: string[]): string[] =>
  words.map((word) => (word.startsWith('/') ? join(image.root, word) : word));

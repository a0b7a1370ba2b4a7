import { isObject, type JsonObject } from './json.ts';

/** How an answer is to go wrong, or to be shaped. Delays in milliseconds. README.md has the table. */
export interface Faults {
  latency_ms?: number;
  first_byte_delay_ms?: number;
  chunk_delay_ms?: number;
  status?: number;
  retry_after?: number;
  cut_after_chunks?: number;
  hang_after_chunks?: number;
  error_after_chunks?: number;
  malformed?: boolean;
  hang?: boolean;
  answer_tokens?: number;
  echo_body_sha256?: boolean;
}

/** A fault that does not exist or cannot have that value; the message names it. */
export class InvalidFault extends Error {}

type Kind = 'flag' | { min: number; max: number };
const delay: Kind = { min: 0, max: 600_000 };
const chunks: Kind = { min: 0, max: 1_000_000 };

const kinds: Record<keyof Faults, Kind> = {
  latency_ms: delay,
  first_byte_delay_ms: delay,
  chunk_delay_ms: delay,
  status: { min: 400, max: 599 },
  retry_after: { min: 0, max: 86_400 },
  cut_after_chunks: chunks,
  hang_after_chunks: chunks,
  error_after_chunks: chunks,
  malformed: 'flag',
  hang: 'flag',
  answer_tokens: { min: 1, max: 100_000 },
  echo_body_sha256: 'flag',
};

/** @throws {InvalidFault} */
export function readFaults(input: JsonObject): Faults {
  for (const [key, value] of Object.entries(input)) {
    const kind = Object.hasOwn(kinds, key) ? kinds[key as keyof Faults] : undefined;
    if (kind === undefined) {
      throw new InvalidFault(`Unknown fault '${key}'; known: ${Object.keys(kinds).join(', ')}`);
    }
    if (kind === 'flag' ? typeof value !== 'boolean' : !isWithin(value, kind)) {
      const expected = kind === 'flag' ? 'a boolean' : `an integer from ${kind.min} to ${kind.max}`;
      throw new InvalidFault(`Fault '${key}' must be ${expected}`);
    }
  }
  return input as Faults;
}

/**
 * Reads `sandbox-chat+status=429+malformed` into the name and the faults of this one request.
 * @throws {InvalidFault}
 */
export function readModel(model: string): { name: string; faults: Faults } {
  const [name = '', ...switches] = model.split('+');
  const entries = switches.map((each) => {
    const [key = '', value = 'true'] = each.split('=');
    if (value === 'true' || value === 'false') return [key, value === 'true'];
    return [key, value.trim() === '' ? Number.NaN : Number(value)];
  });
  return { name, faults: readFaults(Object.fromEntries(entries) as JsonObject) };
}

interface Standing {
  tag: string | null;
  times_left: number | null;
  faults: Faults;
}

/** The faults set by the control endpoint: one set per tag, and one for every other request. */
export class FaultBoard {
  #byTag = new Map<string | null, Standing>();

  /** Replaces the set of the same tag. @throws {InvalidFault} */
  put(input: unknown): Standing {
    if (!isObject(input)) throw new InvalidFault('The body must be a JSON object of faults');
    const { tag = null, times = null, ...rest } = input;
    if (tag !== null && typeof tag !== 'string') throw new InvalidFault("'tag' must be a string");
    if (times !== null && !isWithin(times, { min: 1, max: 1_000_000 })) {
      throw new InvalidFault("'times' must be an integer from 1 to 1000000");
    }
    const standing = { tag, times_left: times, faults: readFaults(rest) };
    this.#byTag.set(tag, standing);
    return standing;
  }

  /** What applies to a request with this tag; counts it against `times`. */
  take(tag: string | null): Faults {
    if (this.#byTag.size === 0) return {};
    const standing = this.#byTag.get(tag) ?? this.#byTag.get(null);
    if (standing === undefined) return {};
    if (standing.times_left !== null && --standing.times_left === 0) {
      this.#byTag.delete(standing.tag);
    }
    return standing.faults;
  }

  list(): Standing[] {
    return [...this.#byTag.values()];
  }

  clear(tag?: string): void {
    if (tag === undefined) this.#byTag.clear();
    else this.#byTag.delete(tag);
  }
}

function isWithin(value: unknown, { min, max }: { min: number; max: number }): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

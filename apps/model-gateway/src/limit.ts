import { ApiError } from '@gatehouse/http';

/** How much of something may be in use at the same time. */
export interface Limit {
  readonly inUse: number;
  /** @throws {ApiError} `overloaded` where less than `amount` is left */
  take(amount: number): void;
  give(amount: number): void;
}

export function createLimit(max: number): Limit {
  let inUse = 0;
  return {
    get inUse() {
      return inUse;
    },
    take(amount) {
      if (inUse + amount > max) throw new ApiError('overloaded');
      inUse += amount;
    },
    give(amount) {
      inUse -= amount;
    },
  };
}

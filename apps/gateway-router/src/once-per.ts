/** Calls `produce` at most once at a time and in `ttlMs`; everybody else shares its result. */
export function oncePer<T>(ttlMs: number, produce: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  return () =>
    (current ??= produce().finally(() => {
      setTimeout(() => (current = undefined), ttlMs).unref();
    }));
}

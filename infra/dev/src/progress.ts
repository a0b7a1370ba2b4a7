export type Log = (line: string) => void;

export interface Progress {
  /** Runs a step and reports what it came to and how long it took, in one line. */
  step<Value>(
    name: string,
    run: () => Promise<Value>,
    describe: (value: Value) => string,
  ): Promise<Value>;
}

export const line = (name: string, text: string): string => `${name.padEnd(16)} ${text}`;

export const createProgress = (log: Log): Progress => ({
  step: async (name, run, describe) => {
    const startedAt = performance.now();
    const value = await run();
    log(line(name, `${describe(value)} ${seconds(startedAt)}`));
    return value;
  },
});

export const seconds = (startedAt: number): string =>
  `(${((performance.now() - startedAt) / 1000).toFixed(1)} s)`;

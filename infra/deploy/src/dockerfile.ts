/** One instruction, with the lines it was written over joined. */
export interface Instruction {
  keyword: string;
  /** `--from=install` is `{ from: 'install' }`. */
  flags: Record<string, string>;
  rest: string;
}

/** Splits a Dockerfile. Heredocs and parser directives are not read. */
export function parseDockerfile(text: string): Instruction[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => {
      const [, keyword = '', flagText = '', rest = ''] =
        /^\s*(\w+)\s+((?:--\S+\s+)*)(.*?)\s*$/.exec(line) ?? [];
      const flags = [...flagText.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name, value]) => [
        name,
        value,
      ]);
      return { keyword: keyword.toUpperCase(), flags: Object.fromEntries(flags), rest };
    });
}

/** `${NAME}` and `$NAME`, as Docker does outside of RUN. An unknown name is a mistake here. */
export function expand(text: string, values: Record<string, string>): string {
  return text.replaceAll(/\$\{(\w+)\}|\$(\w+)/g, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? '';
    const value = values[name];
    if (value === undefined) throw new Error(`the Dockerfile uses ${name} before it is set`);
    return value;
  });
}

import { line, type Log } from './progress.ts';

const repeatAfterMs = 30_000;
const severe = new Map([
  ['warn', 'warning'],
  ['error', 'error'],
  ['fatal', 'error'],
]);

/** Tells the warnings and errors of the services on the terminal; the rest is in their log files. */
export function createNotices(log: Log): (name: string, output: string) => void {
  const toldAt = new Map<string, number>();
  return (name, output) => {
    const entry = parse(output);
    const kind = entry && severe.get(entry.level);
    if (!kind) return;
    const text = line(name, `${kind}: ${entry.msg}`);
    const now = performance.now();
    if (now - (toldAt.get(text) ?? -Infinity) < repeatAfterMs) return;
    toldAt.set(text, now);
    log(`${text} (.gatehouse/logs/${name}.log)`);
  };
}

function parse(output: string): { level: string; msg: string } | undefined {
  if (!output.startsWith('{')) return undefined;
  try {
    const { level, msg } = JSON.parse(output) as { level?: unknown; msg?: unknown };
    return { level: String(level), msg: String(msg).slice(0, 300) };
  } catch {
    return undefined;
  }
}

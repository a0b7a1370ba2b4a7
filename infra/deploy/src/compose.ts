import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface ComposeService {
  image: string;
  build?: { context: string; dockerfile: string; args: { APP: string } };
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  ports?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
}

/** docker-compose.yml with the values of the environment put in. */
export function readCompose(
  root: string,
  values: Record<string, string>,
): Record<string, ComposeService> {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const document = parse(text, { merge: true }) as { services: Record<string, ComposeService> };
  return interpolate(document.services, values) as Record<string, ComposeService>;
}

/** `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, and `$$` for a dollar sign. */
function interpolate(node: unknown, values: Record<string, string>): unknown {
  if (Array.isArray(node)) return node.map((item) => interpolate(item, values));
  if (typeof node === 'object' && node !== null) {
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, interpolate(value, values)]),
    );
  }
  if (typeof node === 'number') return String(node);
  if (typeof node !== 'string') return node;
  return node.replaceAll(
    /\$(?:(\$)|\{(\w+)(?::([-?])([^}]*))?\})/g,
    (_, dollar?: string, name = '', kind?: string, text = '') => {
      if (dollar) return dollar;
      const value = values[name];
      if (value) return value;
      if (kind === '-') return text;
      throw new Error(`${name} is not set: ${text}`);
    },
  );
}

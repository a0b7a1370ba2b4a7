import { isObject, type JsonObject } from './json.ts';

const maxDepth = 12;
const maxItems = 8;

const formats: Record<string, string> = {
  date: '2026-01-02',
  'date-time': '2026-01-02T03:04:05Z',
  time: '03:04:05Z',
  duration: 'PT1H',
  email: 'sample@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * A value that fits a JSON schema, always the same one: `const`, `default` or the first of `enum`
 * where given, else a fixed value per type. Every property is filled in, optional ones too, so that
 * strict schemas are met. Reads the keywords that tools use; `pattern` and `not` are not among them.
 */
export function sample(schema: unknown): unknown {
  return sampleAt(schema, schema, 'value', 0);
}

function sampleAt(schema: unknown, root: unknown, name: string, depth: number): unknown {
  if (!isObject(schema) || depth > maxDepth) return null;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  if (typeof schema['$ref'] === 'string') {
    return sampleAt(resolve(root, schema['$ref']), root, name, depth + 1);
  }
  if (Array.isArray(schema['allOf'])) {
    const { allOf, ...rest } = schema;
    return sampleAt(merge([rest, ...(allOf as unknown[])]), root, name, depth + 1);
  }
  for (const choice of [schema['anyOf'], schema['oneOf']]) {
    if (Array.isArray(choice)) return sampleAt(choice[0], root, name, depth + 1);
  }
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, root, depth);
    case 'array': {
      const length = Math.min(Number(schema['minItems'] ?? 1), maxItems);
      return Array.from({ length }, () => sampleAt(schema['items'], root, name, depth + 1));
    }
    case 'string':
      return sampleString(schema, name);
    case 'integer':
      return Math.ceil(lowest(schema));
    case 'number':
      return lowest(schema);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

function sampleObject(schema: JsonObject, root: unknown, depth: number): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  // fromEntries defines own properties, so one that is named __proto__ stays a property.
  return Object.fromEntries(
    Object.entries(properties).map(([key, property]) => [
      key,
      sampleAt(property, root, key, depth + 1),
    ]),
  );
}

function sampleString(schema: JsonObject, name: string): string {
  const known = typeof schema['format'] === 'string' ? formats[schema['format']] : undefined;
  if (known !== undefined) return known;
  const text = `sample ${name}`.padEnd(Math.min(Number(schema['minLength'] ?? 0), 1000), '.');
  return text.slice(0, Number(schema['maxLength'] ?? text.length));
}

function lowest(schema: JsonObject): number {
  if (typeof schema['minimum'] === 'number') return schema['minimum'];
  if (typeof schema['exclusiveMinimum'] === 'number') return schema['exclusiveMinimum'] + 1;
  const highest = typeof schema['maximum'] === 'number' ? schema['maximum'] : 1;
  return Math.min(1, highest);
}

function typeOf(schema: JsonObject): unknown {
  const type = schema['type'];
  if (Array.isArray(type)) return type.find((each) => each !== 'null');
  return type ?? ('properties' in schema ? 'object' : undefined);
}

function merge(schemas: unknown[]): JsonObject {
  const objects = schemas.filter(isObject);
  const properties = objects.map((each) => each['properties']).filter(isObject);
  return { ...Object.assign({}, ...objects), properties: Object.assign({}, ...properties) };
}

/** Only references into the same document: `#` and `#/$defs/Name`. */
function resolve(root: unknown, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : null), root);
}

import type { RequestHandler } from 'express';
import { documentPaths, services, type Service } from './groups.ts';
import { oncePer } from './once-per.ts';

const ttlMs = 5_000;

interface OpenApiDocument {
  paths: Record<string, unknown>;
  components?: {
    schemas?: Record<string, unknown>;
    securitySchemes?: Record<string, unknown>;
  };
}

/** Serves one OpenAPI document made of those of the services, as far as they answer. */
export function openApi(urls: Readonly<Record<Service, URL>>): RequestHandler {
  const fetchMerged = oncePer(ttlMs, async () => {
    const fetched = await Promise.all(
      services.map(async (service) => ({
        service,
        document: await fetchDocument(new URL(documentPaths[service], urls[service])),
      })),
    );
    return merge(fetched);
  });
  return async (_req, res) => {
    res.set('Cache-Control', 'no-store').json(await fetchMerged());
  };
}

async function fetchDocument(url: URL): Promise<OpenApiDocument | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    const document = (await answer.json()) as Partial<OpenApiDocument> | null;
    return answer.ok && document?.paths ? { ...document, paths: document.paths } : undefined;
  } catch {
    return undefined;
  }
}

function merge(fetched: { service: Service; document: OpenApiDocument | undefined }[]) {
  const paths: Record<string, unknown> = {};
  const schemas: Record<string, unknown> = {};
  const securitySchemes: Record<string, unknown> = {};
  const missing: Service[] = [];
  for (const { service, document } of fetched) {
    if (document === undefined) {
      missing.push(service);
      continue;
    }
    const { components, ...renamed } = withFreeNames(document, service, schemas);
    Object.assign(paths, renamed.paths);
    Object.assign(schemas, components?.schemas);
    Object.assign(securitySchemes, components?.securitySchemes);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version: '1',
      description:
        missing.length === 0
          ? 'All endpoint groups behind one address.'
          : `**Not complete:** these services do not answer at the moment: ${missing.join(', ')}.`,
    },
    'x-missing-services': missing,
    paths,
    components: { schemas, securitySchemes },
  };
}

/** Two services may give one name to two schemas. The later one's gets the service in front. */
function withFreeNames(
  document: OpenApiDocument,
  service: Service,
  taken: Readonly<Record<string, unknown>>,
): OpenApiDocument {
  const own = document.components?.schemas ?? {};
  const isTaken = (name: string) =>
    name in taken && name in own && JSON.stringify(taken[name]) !== JSON.stringify(own[name]);
  const freeName = (name: string) => (isTaken(name) ? `${service}.${name}` : name);
  const refStart = '#/components/schemas/';
  const rename = (key: string, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith(refStart)
      ? refStart + freeName(value.slice(refStart.length))
      : value;
  const schemas = Object.entries(own).map(([name, schema]) => [freeName(name), schema]);
  return JSON.parse(
    JSON.stringify(
      { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } },
      rename,
    ),
  ) as OpenApiDocument;
}

import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { errorTable, type ErrorCode } from './errors.ts';
import { pathParameter, type Credential, type Operation, type ResponseSpec } from './route.ts';

const securitySchemes = {
  publishableKey: { type: 'apiKey', in: 'header', name: 'apikey' },
  userAccessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  consoleAccessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
} as const satisfies Record<Credential, object>;

const errorBody = z
  .object({
    error: z.string().meta({ description: 'A sentence for a person.' }),
    code: z.string().meta({ description: 'A stable code for a program.' }),
  })
  .meta({ id: 'Error' });

/** What any route may answer, and any route with a JSON body. */
const generalErrors: ErrorCode[] = ['secret_in_url', 'internal', 'unavailable'];
const bodyErrors: ErrorCode[] = [
  'invalid_body',
  'validation_failed',
  'request_too_large',
  'unsupported_media_type',
];

/** The OpenAPI 3.1 document of a service, from the same objects that validate its requests. */
export function openApiDocument(
  title: string,
  prefixes: readonly string[],
  routes: readonly Operation[],
) {
  const paths: ZodOpenApiPathsObject = {};
  for (const [index, prefix] of prefixes.entries()) {
    for (const route of routes) {
      const path = pathOf(prefix + route.path);
      const { operationId, ...operation } = operationOf(route, title);
      // An id names one operation: under its aliases it has none.
      const withId = index === 0 ? { operationId, ...operation } : operation;
      paths[path] = { ...paths[path], [route.method]: withId };
    }
  }
  return createDocument({
    openapi: '3.1.0',
    info: { title: `Gatehouse: ${title}`, version: '1' },
    paths,
    components: { securitySchemes },
  });
}

/** An Express path in the form of OpenAPI: `/keys/:key` is `/keys/{key}`. */
const pathOf = (path: string) =>
  path
    .replace(pathParameter, '{$1}')
    .replaceAll('\\', '')
    .replace(/(?<=.)\/$/, '');

function operationOf(route: Operation, tag: string): ZodOpenApiOperationObject {
  const codes = [
    ...route.errors,
    ...(route.body ? bodyErrors : []),
    ...(route.query ? (['validation_failed'] as const) : []),
    ...generalErrors,
  ];
  return {
    operationId: route.operation,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: [tag],
    ...(route.credentials && { security: route.credentials.map((name) => ({ [name]: [] })) }),
    requestParams: {
      ...(route.params && { path: route.params }),
      ...(route.query && { query: route.query }),
    },
    ...(route.body && {
      requestBody: { required: true, content: { 'application/json': { schema: route.body } } },
    }),
    responses: { ...successesOf(route), ...errorsOf(new Set(codes)) },
  };
}

const successesOf = (route: Operation) =>
  Object.fromEntries(
    Object.entries({
      ...route.responses,
      ...(route.passedThrough && { default: route.passedThrough }),
    }).map(([status, response]) => [
      status,
      { description: response.description, ...(response.body && { content: contentOf(response) }) },
    ]),
  );

const contentOf = ({ body, hasEventStream }: ResponseSpec) => ({
  ...(body && { 'application/json': { schema: body } }),
  ...(hasEventStream && { 'text/event-stream': { schema: z.string() } }),
});

function errorsOf(codes: Set<ErrorCode>) {
  const byStatus = Map.groupBy(codes, (code) => errorTable[code][0]);
  return Object.fromEntries(
    [...byStatus].map(([status, codesOfStatus]) => [
      String(status),
      {
        description: codesOfStatus
          .map((code) => `\`${code}\`: ${errorTable[code][1]}`)
          .join('\n\n'),
        content: { 'application/json': { schema: errorBody } },
      },
    ]),
  );
}

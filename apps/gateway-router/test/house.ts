import { once } from 'node:events';
import {
  createServer,
  request,
  type ClientRequest,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  type Server,
} from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createHealth, createHttpServer, createLogger, createMetrics } from '@gatehouse/http';
import { configureServer, createApp } from '../src/app.ts';
import { createAgent } from '../src/forward.ts';
import { groups, services, type Service, type Timeouts } from '../src/groups.ts';

export interface House {
  port: number;
  /** What the router logged, a line each. */
  lines: string[];
  close(): Promise<void>;
}

/** Tells which service got the request, and what of it. */
export const echo =
  (service: string): RequestListener =>
  (req, res) => {
    void text(req).then((body) => {
      const { method, url, headers, rawHeaders } = req;
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ service, method, url, headers, rawHeaders, body }));
    });
  };

/** A router in front of real HTTP servers, one per service; those not given echo. */
export async function startHouse(options: {
  handlers?: Partial<Record<Service, RequestListener>>;
  urls?: Partial<Record<Service, URL>>;
  timeouts?: Partial<Timeouts>;
  trustedHops?: number;
}): Promise<House> {
  const servers: Server[] = [];
  const listen = async (server: Server) => {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return portOf(server);
  };
  const urls = {} as Record<Service, URL>;
  for (const service of services) {
    const port = await listen(createServer(options.handlers?.[service] ?? echo(service)));
    urls[service] = options.urls?.[service] ?? new URL(`http://127.0.0.1:${port}`);
  }
  const lines: string[] = [];
  const agent = createAgent();
  const app = createApp({
    urls,
    agent,
    trustedHops: options.trustedHops ?? 0,
    log: createLogger('gateway-router', {
      destination: { write: (line) => void lines.push(line) },
    }),
    metrics: createMetrics('gateway-router'),
    health: createHealth(),
    groups: groups.map((group) => ({ ...group, ...options.timeouts })),
  });
  const router = createHttpServer(app);
  configureServer(router, app);
  const port = await listen(router);
  return {
    port,
    lines,
    close: async () => {
      agent.destroy();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
}

export const portOf = (server: Server) => (server.address() as AddressInfo).port;

export async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** A request that sends its path as it stands; `fetch` would tidy it up. */
export function open(port: number, path: string, options: RequestOptions = {}): ClientRequest {
  const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options });
  sent.on('error', () => {});
  return sent;
}

export const answerTo = async (sent: ClientRequest) => {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
};

export interface Answer {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into it freely
  body: any;
}

/** Sends a whole request and reads the whole answer. */
export async function ask(
  port: number,
  path: string,
  { body, ...options }: RequestOptions & { body?: string | Buffer } = {},
): Promise<Answer> {
  const sent = open(port, path, options);
  sent.end(body);
  const answer = await answerTo(sent);
  const content = await text(answer);
  return {
    status: answer.statusCode,
    headers: answer.headers,
    rawHeaders: answer.rawHeaders,
    body: content.startsWith('{') ? JSON.parse(content) : content,
  };
}

/** Writes bytes onto a connection and returns all that comes back until it is closed. */
export async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answerTo, open, portOf, text } from './house.ts';

const stream = Promise.withResolvers<ServerResponse>();
const service = createServer((_req, res) => {
  res.write('data: 1\n\n');
  stream.resolve(res);
});
beforeAll(async () => {
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
});
afterAll(() => void service.close());

const free = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  return port;
};

function startRouter(environment: Record<string, string>) {
  const main = new URL('../src/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, ...environment },
  });
  return { child, exited: once(child, 'exit'), stderr: text(child.stderr) };
}

it('finishes the stream that is under way when it is told to stop, then exits 0 at once', async () => {
  const url = `http://127.0.0.1:${portOf(service)}`;
  const [port, metricsPort] = [await free(), await free()];
  const { child, exited } = startRouter({
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    AUTH_URL: url,
    MODEL_GATEWAY_URL: url,
    MEMORY_URL: url,
    REGISTRY_URL: url,
    ACCOUNT_URL: url,
  });
  const log = createInterface(child.stdout);
  const logged = (message: string) =>
    new Promise<void>((resolve) => {
      log.on('line', (line) => line.includes(message) && resolve());
    });
  const stopping = logged('"msg":"stopping"');
  await logged('"msg":"serving"');

  const agent = new Agent({ keepAlive: true });
  const sent = open(port, '/v1/chat/completions', { method: 'POST', agent });
  sent.end('{}');
  const answer = await answerTo(sent);
  const res = await stream.promise;
  child.kill('SIGTERM');
  await stopping;
  await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow();

  res.end('data: [DONE]\n\n');
  expect(await text(answer)).toBe('data: 1\n\ndata: [DONE]\n\n');
  const endedAt = performance.now();
  expect(await exited).toEqual([0, null]);
  expect(performance.now() - endedAt).toBeLessThan(2_000);
  agent.destroy();
});

it('names all that is missing or wrong in its environment, and starts not', async () => {
  const { exited, stderr } = startRouter({
    AUTH_URL: 'https://auth.test',
    MEMORY_URL: 'http://memory.test/base',
    TRUSTED_HOPS: '-1',
  });
  expect(await exited).toEqual([78, null]);
  const report = await stderr;
  for (const name of ['AUTH_URL', 'MODEL_GATEWAY_URL', 'MEMORY_URL', 'TRUSTED_HOPS']) {
    expect(report).toContain(`config: ${name}: `);
  }
});

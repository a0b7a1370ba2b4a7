import { createHealth, createLogger, createMetrics } from '@gatehouse/http';
import { describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { createApp } from '../src/app.ts';

const agent = supertest(
  createApp({
    log: createLogger('registry', { level: 'silent' }),
    metrics: createMetrics('registry'),
    health: createHealth(),
  }),
);

describe.each(['/api/v1/services', '/api/v1/agents'])('%s', (base) => {
  it.each([
    ['GET', ''],
    ['POST', ''],
    ['GET', '/s1'],
    ['GET', '/s1/metadata.json'],
    ['POST', '/s1/dns/verify'],
    ['POST', '/s1/erc8004/prepare-register'],
    ['POST', '/s1/erc8004/confirm-register'],
  ])('%s %s is published and says that it is not built yet', async (method, path) => {
    const answer = await agent[method.toLowerCase() as 'get'](base + path);
    expect([answer.status, answer.body]).toEqual([
      501,
      { error: expect.any(String), code: 'not_implemented' },
    ]);
  });

  it('describes both base paths, each operation id once', async () => {
    const { body } = await agent.get(`${base}/openapi.json`);
    expect(Object.keys(body.paths)).toHaveLength(12);
    expect(body.paths[base].get.responses['501']).toBeDefined();
    const ids = JSON.stringify(body).match(/"operationId":"\w+"/g);
    expect(new Set(ids).size).toBe(7);
    expect(ids).toHaveLength(7);
  });

  it('answers any other path and method in the error body', async () => {
    expect((await agent.get(`${base}/s1/nothing`)).body.code).toBe('not_found');
    expect((await agent.put(base)).body.code).toBe('method_not_allowed');
  });
});

it('is ready', async () => {
  expect((await agent.get('/health/ready')).status).toBe(200);
});

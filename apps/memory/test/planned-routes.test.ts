import { createHealth, createLogger, createMetrics } from '@gatehouse/http';
import { describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { createApp } from '../src/app.ts';

const agent = supertest(
  createApp({
    log: createLogger('memory', { level: 'silent' }),
    metrics: createMetrics('memory'),
    health: createHealth(),
  }),
);

describe('memory', () => {
  it.each([
    ['POST', '/api/v1/memory/capture'],
    ['POST', '/api/v1/memory/retrieve'],
    ['POST', '/api/v1/memory/functions/service_retrieve_end_user_memory'],
    ['GET', '/api/v1/memory/projects'],
    ['POST', '/api/v1/memory/projects'],
    ['GET', '/api/v1/memory/projects/p1'],
    ['DELETE', '/api/v1/memory/projects/p1'],
  ])('%s %s is published and says that it is not built yet', async (method, path) => {
    const answer = await agent[method.toLowerCase() as 'get'](path);
    expect([answer.status, answer.body]).toEqual([
      501,
      { error: expect.any(String), code: 'not_implemented' },
    ]);
  });

  it('is ready and describes its paths', async () => {
    expect((await agent.get('/health/ready')).status).toBe(200);
    const { body } = await agent.get('/api/v1/memory/openapi.json');
    expect(Object.keys(body.paths)).toHaveLength(5);
    expect(body.paths['/api/v1/memory/projects/{projectKey}'].delete.parameters).toMatchObject([
      { name: 'projectKey', in: 'path', required: true },
    ]);
  });

  it('answers any other path and method in the error body', async () => {
    expect((await agent.get('/api/v1/memory/nothing')).body.code).toBe('not_found');
    expect((await agent.put('/api/v1/memory/projects')).body.code).toBe('method_not_allowed');
  });
});

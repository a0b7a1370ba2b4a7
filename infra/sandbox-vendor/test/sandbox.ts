import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { createSandboxVendor } from '../src/server.ts';

export const key = 'sk-sandbox-test-0123456789abcdef';

export interface Shown {
  id: string;
  dialect: string;
  model: string | null;
  tag: string | null;
  headers: Record<string, string>;
  credential_sha256: string | null;
  credential_matched: boolean;
  body_sha256: string;
  body_bytes: number;
  status: number | null;
  chunks_sent: number;
  received_at: number;
  first_byte_at: number | null;
  finished_at: number | null;
  aborted_at: number | null;
  outcome: string;
}

interface PostOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A sandbox vendor on a free port for the tests of one file, and its two official clients. */
export function useSandbox() {
  const server = createSandboxVendor({ key });
  let url = '';

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(async () => {
    await fetch(`${url}/_sandbox/requests`, { method: 'DELETE' });
    await fetch(`${url}/_sandbox/faults`, { method: 'DELETE' });
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  return {
    openai: (apiKey = key, maxRetries = 0) =>
      new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries }),
    anthropic: (apiKey = key, maxRetries = 0) =>
      new Anthropic({ apiKey, baseURL: url, maxRetries }),
    fetch: (path: string, init?: RequestInit) => fetch(url + path, init),
    /** A raw POST with the credential that both dialects accept. */
    post: (path: string, body: unknown, { headers, signal }: PostOptions = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'anthropic-version': '2026-10-21', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal: signal ?? null,
      }),
    setFaults: (faults: object) =>
      fetch(`${url}/_sandbox/faults`, { method: 'PUT', body: JSON.stringify(faults) }),
    waitFor: async (query: string): Promise<Shown[]> => {
      const response = await fetch(`${url}/_sandbox/requests/wait?${query}`);
      const { requests } = (await response.json()) as { requests: Shown[] };
      return requests;
    },
  };
}

export const chat = (content: string, model = 'sandbox-chat') => ({
  model,
  messages: [{ role: 'user' as const, content }],
});

export const weather = {
  name: 'get_weather',
  schema: {
    type: 'object' as const,
    properties: {
      city: { type: 'string' },
      unit: { enum: ['celsius', 'fahrenheit'] },
      days: { type: 'integer', minimum: 3 },
      hours: { type: 'array', items: { type: 'number' }, minItems: 2 },
    },
    required: ['city'],
  },
};

export const weatherArguments = {
  city: 'sample city',
  unit: 'celsius',
  days: 3,
  hours: [1, 1],
};

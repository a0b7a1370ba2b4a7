/** An answer, its body parsed where it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects
  body: any;
}

export interface Call {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>;
}

export interface Caller {
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** Every password, token and key that went over the wire, to look for in the logs. */
  secrets: Set<string>;
}

const secretFields = new Set(['password', 'access_token', 'refresh_token', 'key']);

/** Calls the house over HTTP as an application would, and remembers each secret on the way. */
export function createCaller(baseUrl: string): Caller {
  const secrets = new Set<string>();
  const remember = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      // Short ones would be found by chance in ids and durations.
      if (secretFields.has(name) && typeof member === 'string' && member.length >= 12) {
        secrets.add(member);
      }
    }
  };
  return {
    secrets,
    async call(method, path, { headers = {}, body, raw } = {}) {
      remember(body);
      const hasJson = body !== undefined;
      const response = await fetch(baseUrl + path, {
        method,
        headers: { ...(hasJson && { 'content-type': 'application/json' }), ...headers },
        ...(hasJson && { body: JSON.stringify(body) }),
        ...(raw !== undefined && { body: raw }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
      const parsed: unknown = isJson ? JSON.parse(text) : text;
      remember(parsed);
      return { status: response.status, headers: response.headers, body: parsed };
    },
  };
}

/** Status and code of an answer, as a pair to compare. */
export const outcome = ({ status, body }: Answer) => [status, body.code];

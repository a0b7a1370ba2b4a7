import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { raw, startHouse, text, type House } from './house.ts';

const reached: string[] = [];
let house: House;
beforeAll(async () => {
  house = await startHouse({
    handlers: {
      auth: (req, res) => {
        void text(req).then((body) => {
          reached.push(`${req.method} ${req.url} ${body}`);
          res.end('ok');
        });
      },
    },
  });
});
afterAll(() => house.close());

/** Sends a head and a body that looks like a request of its own; returns what auth saw. */
async function smuggle(head: string, body: string) {
  reached.length = 0;
  const answer = await raw(house.port, `${head}\r\nHost: a\r\n\r\n${body}`);
  return { answer, reached: [...reached] };
}

const hidden = 'POST /api/v1/auth/hidden HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;

describe('a request that frames itself in two ways', () => {
  it.each([
    ['Content-Length and Transfer-Encoding', 'Content-Length: 4\r\nTransfer-Encoding: chunked'],
    ['two Content-Lengths', 'Content-Length: 4\r\nContent-Length: 5'],
    ['a list of Content-Lengths', 'Content-Length: 4, 4'],
    ['a signed Content-Length', 'Content-Length: +4'],
    ['a coding before the name ends', 'Transfer-Encoding : chunked'],
    ['chunked before another coding', 'Transfer-Encoding: chunked, identity'],
    ['a vertical tab before chunked', 'Transfer-Encoding: \vchunked'],
    ['a folded header', 'X-A: b\r\n Transfer-Encoding: chunked'],
    ['a bare line feed', 'X-A: b\nTransfer-Encoding: chunked'],
  ])('%s: is refused in the error body', async (_why, headers) => {
    const { answer, reached } = await smuggle(
      `POST /api/v1/auth/token HTTP/1.1\r\n${headers}\r\nConnection: close`,
      '0\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"validation_failed"/);
    expect(reached).toEqual([]);
  });

  it('is refused with a coding that cannot be passed on', async () => {
    const { answer, reached } = await smuggle(
      'POST /api/v1/auth/token HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close',
      '0\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"validation_failed"/);
    expect(reached).toEqual([]);
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST'])(
    'a %s body stays a body, however it is framed and whatever Connection names',
    async (method) => {
      for (const connection of ['', ', content-length, transfer-encoding, host']) {
        const close = `Connection: close${connection}`;
        const path = '/api/v1/auth/token';
        const byLength = await smuggle(
          `${method} ${path} HTTP/1.1\r\nContent-Length: ${hidden.length}\r\n${close}`,
          hidden,
        );
        const byChunks = await smuggle(
          `${method} ${path} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${close}`,
          chunked,
        );
        for (const { answer, reached } of [byLength, byChunks]) {
          expect(answer).toMatch(/^HTTP\/1\.1 200 /);
          expect(reached).toEqual([`${method} ${path} ${hidden}`]);
        }
      }
    },
  );

  it('refuses headers that are too large in the error body', async () => {
    const { answer } = await smuggle(
      `GET /api/v1/auth/settings HTTP/1.1\r\nX-A: ${'a'.repeat(20_000)}`,
      '',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431 [^]*"code":"request_header_fields_too_large"/);
  });
});

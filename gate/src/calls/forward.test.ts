import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import http from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  ask,
  type GateHarness,
  sendRaw,
  startGateHarness,
  textOf,
} from '../../../test/support/fixtures/gate.ts';
import type { Settings } from '../settings/settings.ts';

/** What passes unpaid is what it would be without the gate. */
let harness: GateHarness;
const start = async (serve: RequestListener, changed: Partial<Settings> = {}) => {
  harness = await startGateHarness(serve, changed);
  return harness;
};
afterEach(() => harness.stop());

describe('requests', () => {
  test('method, target, headers and their letters and order arrive, repeated ones too', async () => {
    const { url, upstream } = await start((_request, response) => response.end('ok'));
    const headers = ['Host', 'api.example', 'X-A', '1', 'x-b', '2', 'X-A', '3', 'Accept-Encoding', 'gzip'];
    await ask(`${url}/a%2Cb/c?x=%20//&y#`, { method: 'PATCH', path: '/a%2Cb/c?x=%20//&y', headers });
    const [request] = upstream.seen as [IncomingMessage];
    expect([request.method, request.url]).toEqual(['PATCH', '/a%2Cb/c?x=%20//&y']);
    expect(request.rawHeaders.slice(0, 10)).toEqual(headers);
    expect(request.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.example',
    });
  });

  /** Never reads a body, so it is the next request, whose answer waits for the one after. */
  const startCareless = async () => {
    const server = createServer((socket) => {
      let held = '';
      socket
        .on('error', () => undefined)
        .on('data', (chunk) => {
          for (const head of String(chunk).split('\r\n\r\n').slice(0, -1)) {
            const [line] = head.split('\r\n') as [string];
            held += `HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\n\r\n${line}`;
            if (line.includes('/report')) continue;
            socket.write(held);
            held = '';
          }
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { url: new URL(`http://127.0.0.1:${port}`), stop: () => server.close() };
  };

  test('what an upstream leaves of a body is not the next request, unless it is said to read all', async () => {
    const careless = await startCareless();
    const next = [];
    for (const readsBodies of [false, true]) {
      await harness?.stop();
      const { url } = await start(() => undefined, { upstream: careless.url, readsBodies });
      await ask(`${url}/one`, { method: 'POST' }, (request) => request.end('GET /report HTTP/1.1\r\n\r\n'));
      next.push((await ask(`${url}/two`)).text);
    }
    careless.stop();
    expect(next).toEqual(['GET /two HTTP/1.1', 'GET /report HTTP/1.1']);
  });

  test('an upload of 20 MB arrives whole, with its length and in chunks, with its trailers', async () => {
    const bytes = Buffer.alloc(20_000_000, 'abcdefghij');
    const hashOf = async (request: IncomingMessage) => {
      const hash = createHash('sha256');
      for await (const chunk of request) hash.update(chunk as Buffer);
      return hash.digest('hex');
    };
    const { url } = await start(async (request, response) => {
      const hash = await hashOf(request);
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      response.end(JSON.stringify({ hash, length, encoding, trailers: request.trailers }));
    });
    const expected = createHash('sha256').update(bytes).digest('hex');
    const sized = await ask(url, { method: 'POST', headers: { 'content-length': bytes.length } }, (request) =>
      request.end(bytes),
    );
    expect(JSON.parse(sized.text)).toMatchObject({ hash: expected, length: '20000000' });
    const chunked = await ask(
      url,
      { method: 'PUT', headers: { trailer: 'x-sum, quittance-amount' } },
      (request) => {
        request.write(bytes);
        request.addTrailers({ 'x-sum': '1', 'quittance-amount': '1' });
        request.end();
      },
    );
    expect(JSON.parse(chunked.text)).toEqual({
      hash: expected,
      encoding: 'chunked',
      trailers: { 'x-sum': '1' },
    });
  });

  test('a client that waits for 100 Continue gets it', async () => {
    const { url } = await start(async (request, response) => response.end(await textOf(request)));
    const { text } = await ask(url, { method: 'POST', headers: { expect: '100-continue' } }, (request) => {
      request.once('continue', () => request.end('body'));
      request.flushHeaders();
    });
    expect(text).toBe('body');
  });

  test('requests share connections in both directions', async () => {
    const ports = new Set<number>();
    const { url } = await start((request, response) => {
      ports.add(request.socket.remotePort!);
      response.end('ok');
    });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let times = 0; times < 5; times += 1) await ask(url, { agent });
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  test('an idle connection that the upstream has closed costs no request', async () => {
    const { url, upstream } = await start((_request, response) => response.end('ok'));
    for (let times = 0; times < 5; times += 1) {
      expect((await ask(url)).answer.statusCode).toBe(200);
      upstream.server.closeIdleConnections();
    }
  });
});

describe('answers', () => {
  test('status text, headers, compressed bytes and trailers arrive unchanged', async () => {
    const bytes = gzipSync('text');
    const { url } = await start((_request, response) => {
      const headers = ['X-One', '1', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Content-Encoding', 'gzip'];
      response.writeHead(207, 'Many Things', [...headers, 'Trailer', 'X-Sum']);
      response.write(bytes);
      response.addTrailers({ 'X-Sum': '9' });
      response.end();
    });
    const chunks: Buffer[] = [];
    const answer = await new Promise<IncomingMessage>((resolve) => {
      http.get(url, (got) =>
        got.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(got)),
      );
    });
    expect([answer.statusCode, answer.statusMessage]).toEqual([207, 'Many Things']);
    expect(answer.rawHeaders).toEqual(expect.arrayContaining(['X-One', 'Set-Cookie', 'a=1', 'b=2']));
    expect([Buffer.concat(chunks), answer.trailers]).toEqual([bytes, { 'x-sum': '9' }]);
  });

  test('HEAD, 204, 304 and a range have no body but the asked one', async () => {
    const { url } = await start((request, response) => {
      if (request.url === '/range')
        return response.writeHead(206, { 'content-range': 'bytes 0-1/9' }).end('ab');
      if (request.url === '/head') return response.writeHead(200, { 'content-length': 9 }).end();
      return response.writeHead(Number(request.url!.slice(1))).end();
    });
    const head = await ask(`${url}/head`, { method: 'HEAD' });
    expect([head.answer.headers['content-length'], head.text]).toEqual(['9', '']);
    for (const status of [204, 304]) expect((await ask(`${url}/${status}`)).answer.statusCode).toBe(status);
    const range = await ask(`${url}/range`, { headers: { range: 'bytes=0-1' } });
    expect([range.answer.headers['content-range'], range.text]).toEqual(['bytes 0-1/9', 'ab']);
  });

  test('events arrive one by one while the answer goes on', async () => {
    const next = Promise.withResolvers<void>();
    const { url } = await start(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      await next.promise;
      response.end('data: 2\n\n');
    });
    const reader = (await fetch(url)).body!.getReader();
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
    expect(await read()).toBe('data: 1\n\n');
    next.resolve();
    expect(await read()).toBe('data: 2\n\n');
  });

  test.each([
    ['one link', ['</a.css>; rel=preload']],
    ['two headers', ['</a.css>; rel=preload; as=style', '</b.js>; rel=preload; as=script']],
    ['two links in one header', ['</a.css>; rel=preload, </b.js>; rel=preload']],
    ['quoted words', ['</a.css>; rel="preload stylesheet"; imagesrcset="a.png 1x, b.png 2x"']],
    ['no link', []],
  ])('early hints with %s arrive before the answer', async (_name, links) => {
    const { url, gate } = await start((_request, response) => {
      const lines = links.map((link) => `Link: ${link}\r\n`).join('');
      response.socket!.write(`HTTP/1.1 103 Early Hints\r\nX-Other: 1\r\n${lines}\r\n`);
      response.end('ok');
    });
    const hints: unknown[] = [];
    const { text } = await ask(url, {}, (request) => {
      request.on('information', ({ rawHeaders }) => hints.push(rawHeaders));
      request.end();
    });
    expect([text, hints]).toEqual([
      'ok',
      links.length === 0 ? [] : [links.flatMap((link) => ['Link', link])],
    ]);
    expect(await sendRaw(gate.port, 'GET / HTTP/1.0\r\nhost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a status text that Node does not send is left out', async () => {
    const { url } = await start((_request, response) => {
      response.socket!.end('HTTP/1.1 200 O\x01K\r\nConnection: close\r\n\r\nok');
    });
    const { answer, text } = await ask(url);
    expect([answer.statusCode, answer.statusMessage, text]).toEqual([200, '', 'ok']);
  });

  test('trailers that cannot follow are not announced, and the answer arrives', async () => {
    const { url, gate } = await start((request, response) => {
      const length = request.url === '/chunked' ? '' : 'Content-Length: 2\r\n';
      const body = request.method === 'HEAD' ? '' : length === '' ? '2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\n' : 'ok';
      const head = `${length === '' ? 'Transfer-Encoding: chunked\r\n' : length}Trailer: X-Sum\r\n`;
      response.socket!.end(`HTTP/1.1 200 OK\r\n${head}Connection: close\r\n\r\n${body}`);
    });
    expect((await ask(`${url}/sized`)).text).toBe('ok');
    expect((await ask(`${url}/chunked`, { method: 'HEAD' })).answer.statusCode).toBe(200);
    expect(await sendRaw(gate.port, 'GET /chunked HTTP/1.0\r\nhost: a\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*ok$/,
    );
  });

  test('a client that does not read stops the upstream, and one that disconnects ends it', async () => {
    let written = 0;
    const gone = Promise.withResolvers<void>();
    const chunk = Buffer.alloc(65_536);
    const { gate } = await start((_request, response) => {
      const write = () => {
        do written += chunk.length;
        while (response.write(chunk));
      };
      response.on('drain', write).once('close', () => gone.resolve());
      write();
    });
    const socket = connect(gate.port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    let last = -1;
    await waitUntil(
      () => {
        const isStill = written > 0 && written === last;
        last = written;
        return isStill;
      },
      { everyMs: 200 },
    );
    // What fits into the buffers of four sockets, and no more.
    expect(written).toBeLessThan(50_000_000);
    socket.destroy();
    await gone.promise;
  });
});

describe('request smuggling', () => {
  const HOST = 'host: a\r\n';
  test.each([
    [
      'both framings',
      `POST / HTTP/1.1\r\n${HOST}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n${HOST}\r\n`,
    ],
    ['two lengths', `POST / HTTP/1.1\r\n${HOST}content-length: 4\r\ncontent-length: 5\r\n\r\nabcde`],
    ['a signed length', `POST / HTTP/1.1\r\n${HOST}content-length: +4\r\n\r\nabcd`],
    ['an unknown encoding', `POST / HTTP/1.1\r\n${HOST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
    [
      'chunked before another encoding',
      `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    ],
    ['a space before the colon', `POST / HTTP/1.1\r\n${HOST}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`],
    ['a bare line feed in chunks', `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n1\na\n0\n\n`],
    [
      'a long chunk size',
      `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n10000000000000001\r\na\r\n0\r\n\r\n`,
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts and a fold', `GET / HTTP/1.1\r\n${HOST} folded: 1\r\nx\r\n\r\n`],
    ['a zero byte in a header', `GET / HTTP/1.1\r\n${HOST}x: a\0b\r\n\r\n`],
  ])('%s is refused, and nothing reaches the upstream whole', async (_name, text) => {
    const paths: string[] = [];
    const { gate } = await start((request, response) => {
      request.on('end', () => paths.push(request.url!)).resume();
      response.end();
    });
    const said = await sendRaw(gate.port, text);
    expect(said).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(paths).not.toContain('/x');
    expect(said.match(/HTTP\/1\.1 200/)).toBeNull();
  });

  test('a length that Connection reserves stays a body', async () => {
    const { gate, upstream } = await start(async (request, response) => response.end(await textOf(request)));
    const body = `GET /x HTTP/1.1\r\n${HOST}x: abc\r\n\r\n`.slice(0, 33);
    const headers = 'connection: close, content-length\r\ncontent-length: 33\r\n';
    const said = await sendRaw(gate.port, `POST / HTTP/1.1\r\n${HOST}${headers}\r\n${body}`);
    expect(said).toMatch(/^HTTP\/1\.1 200 /);
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/']);
  });

  test('an absolute target is a path, and a fragment is refused', async () => {
    const { gate, upstream } = await start((_request, response) => response.end('ok'));
    const get = (target: string) =>
      sendRaw(gate.port, `GET ${target} HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`);
    expect(await get('http://other.example/a?b')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get('http://other.example')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get('http://other.example/report')).toMatch(/^HTTP\/1\.1 402 /);
    expect(await get('/a#/report')).toMatch(/^HTTP\/1\.1 400 /);
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/a?b', '/']);
  });

  test.each([
    ['both framings', 'content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 502],
    ['two lengths', 'content-length: 2\r\ncontent-length: 3\r\n\r\nabc', 502],
  ])('an answer with %s does not pass', async (_name, rest, status) => {
    const { url, upstream } = await start(() => undefined);
    upstream.server.removeAllListeners('request');
    upstream.server.on('request', (request: IncomingMessage) => {
      request.socket.end(`HTTP/1.1 200 OK\r\n${rest}`);
    });
    expect((await ask(url)).answer.statusCode).toBe(status);
  });
});

test('without an upstream the answer is 502, with a slow one 504, and a broken answer is broken', async () => {
  const { url, upstream, lines } = await start(
    (request, response) => {
      if (request.url === '/slow') return;
      response.writeHead(200, { 'content-length': 10 }).write('abc', () => response.destroy());
    },
    { timeouts: { connectMs: 1000, answerMs: 100, idleMs: 60_000, bodyMs: 30_000, drainMs: 1000 } },
  );
  const slow = await ask(`${url}/slow`);
  expect([slow.answer.statusCode, JSON.parse(slow.text)]).toEqual([
    504,
    { error: 'service_unavailable', details: { reason: 'upstream_timeout' } },
  ]);
  await expect(ask(`${url}/broken`)).rejects.toThrow('aborted');
  await upstream.stop();
  expect((await ask(url)).answer.statusCode).toBe(502);
  const calls = lines.filter(({ message }) => message === 'call');
  expect(calls.map(({ reason }) => reason)).toEqual([
    'upstream_timeout',
    'upstream_broken',
    'upstream_unreachable',
  ]);
});

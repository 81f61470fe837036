import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import {
  ask,
  type GateHarness,
  sendRaw,
  startGateHarness,
  startUpstream,
} from '../../../test/support/fixtures/gate.ts';
import {
  type AskingProxy,
  askingProxies,
  startAskingProxy,
} from '../../../test/support/others/asking-proxies.ts';
import type { Settings } from '../settings/settings.ts';

/** Each of them a server could take for a fact, another request or another caller. */
const SPOOFED = [
  ...['Quittance-Settlement', 'Quittance-Usage', 'Quittance_Token', 'Quittance.Amount', 'quittance-new'],
  ...['X-Original-URL', 'X-Original-URI', 'X_Original_URL', 'X-Rewrite-URL', 'X-Original-Method'],
  ...['X-HTTP-Method', 'X-HTTP-Method-Override', 'X.HTTP.Method.Override', 'X-Method-Override'],
  ...['X-Forwarded-Uri', 'X-Forwarded-Method', 'X-Forwarded-Path', 'X-Forwarded-Prefix', 'X_Forwarded_Uri'],
  ...['X-Envoy-Original-Path', 'X-Matched-Path', 'X-Real-IP', 'X-Forwarded-Port', 'Forwarded'],
];

/** The configurations of examples/gate, with the distribution's proxies and a real upstream. */
const SECRET = 'a secret of thirty-two characters!!';
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const start = async (name: AskingProxy, changed: Partial<Settings> = {}) => {
  const harness: GateHarness = await startGateHarness(() => undefined, {
    ...{ upstream: null, upstreamSecret: SECRET },
    ...changed,
  });
  stops.push(harness.stop);
  const upstream = await startUpstream((request, response) => {
    response.setHeader('x-path', request.url!);
    response.end('the answer');
  });
  stops.push(upstream.stop);
  const proxy = await startAskingProxy(name, { gatePort: harness.gate.port, upstreamPort: upstream.port });
  stops.push(proxy.stop);
  // What the start of the proxy has asked.
  upstream.seen.length = 0;
  return { ...harness, upstream, proxy };
};
const jsonOf = (text: string) =>
  JSON.parse(text) as { error?: string; details?: { reason?: string }; quote_token?: string };

// Jest refuses an empty table.
const areThere = askingProxies.length > 0;
const suite = areThere ? describe : describe.skip;
suite.each(areThere ? askingProxies : (['no proxy'] as never[]))('%s', (name) => {
  test('an unpaid request gets the price, and a paid one the answer with the facts of its payment', async () => {
    const { proxy, upstream, pay } = await start(name);
    const asked = await ask(`${proxy.url}/report?city=Ulm`);
    expect([asked.answer.statusCode, jsonOf(asked.text).error]).toEqual([402, 'payment_required']);
    expect(asked.answer.headers['content-type']).toContain('application/json');
    expect(upstream.seen).toEqual([]);

    const headers = pay();
    const unpaid = await ask(`${proxy.url}/report`, { headers: { 'X-Forwarded-Uri': '/free' } });
    expect(unpaid.answer.statusCode).toBe(402);
    const paid = await ask(`${proxy.url}/report?city=Ulm`, { headers: { ...headers, cookie: 'a=1' } });
    expect([paid.answer.statusCode, paid.text, paid.answer.headers['x-path']]).toEqual([
      ...[200, 'the answer', '/report?city=Ulm'],
    ]);
    const got = upstream.seen[0]!.headers;
    expect(got).toMatchObject({
      'quittance-settlement': headers['x-settlement-id'],
      'quittance-amount': '50000',
      'quittance-token': expect.stringMatching(/^eyJ/),
      cookie: 'a=1',
    });
    expect(Object.keys(got).filter((key) => /^x-settlement|^x-payment|payment-signature/.test(key))).toEqual(
      [],
    );

    await ask(`${proxy.url}/report?city=Ulm`, { headers });
    const spent = await ask(`${proxy.url}/report?city=Ulm`, { headers });
    expect([spent.answer.statusCode, jsonOf(spent.text).details?.reason]).toEqual([402, 'spent']);
  });

  test('what a client makes up about its payment, its request or itself never reaches the API', async () => {
    const { proxy, upstream } = await start(name);
    for (const header of SPOOFED) {
      const { answer } = await ask(`${proxy.url}/free`, { headers: { [header]: 'spoofed' } });
      expect([header, [200, 400].includes(answer.statusCode!)]).toEqual([header, true]);
    }
    const got = upstream.seen.flatMap(({ rawHeaders }) => rawHeaders.filter((text) => /spoofed/.test(text)));
    expect(got).toEqual([]);
  });

  test('a free request passes, and a spelling of a price does not', async () => {
    const { proxy, upstream } = await start(name);
    const free = await ask(`${proxy.url}/free`, { headers: { authorization: 'Bearer a' } });
    expect([free.answer.statusCode, free.text]).toEqual([200, 'the answer']);
    expect(upstream.seen[0]!.headers.authorization).toBe('Bearer a');
    for (const path of ['/REPORT', '//report', '/%72eport', '/x/../report', '/report/'])
      expect([path, (await ask(proxy.url, { path })).answer.statusCode! >= 400]).toEqual([path, true]);
    expect(upstream.seen).toHaveLength(1);
  });

  test('a client has free calls, and no more by an address that it makes up', async () => {
    const free = { calls: 2, per: 'month', by: null } as const;
    const routes = [{ match: 'GET /report', paid: { price: '50000' }, free }];
    const { proxy, upstream } = await start(name, { routes, proxies: 1 });
    const statuses = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      const headers = { 'x-forwarded-for': address };
      statuses.push((await ask(`${proxy.url}/report`, { headers })).answer.statusCode);
    }
    expect([statuses, upstream.seen.length]).toEqual([[200, 200, 402], 2]);
  });

  test('bodies without a meaning, and two different requests in one, are refused', async () => {
    const { proxy, upstream } = await start(name);
    const raw = async (lines: string[], body: string) =>
      (
        await sendRaw(proxy.port, `${lines.join('\r\n')}\r\nHost: x\r\nConnection: close\r\n\r\n${body}`)
      ).split(' ')[1];
    const hidden = 'GET /report HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const lines of [
      ['GET /free HTTP/1.1', `Content-Length: ${hidden.length}`],
      ['OPTIONS /report HTTP/1.1', `Content-Length: ${hidden.length}`],
    ])
      expect([lines, await raw(lines, hidden)]).toEqual([lines, '400']);
    const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    await raw(['GET /free HTTP/1.1', 'Transfer-Encoding: chunked'], chunked);
    const bodies = upstream.seen.filter(
      ({ complete, headers }) => complete && 'transfer-encoding' in headers,
    );
    expect(bodies).toEqual([]);
    expect((await ask(`${proxy.url}/report`)).answer.statusCode).toBe(402);
  });

  test('a hundred headers are an answer, and the proxy lives', async () => {
    const { proxy, upstream } = await start(name);
    for (const count of [90, 97, 98, 99, 100, 101, 150]) {
      const headers = Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, 'b']));
      const { answer } = await ask(`${proxy.url}/report`, { headers });
      expect([count, answer.statusCode! >= 400]).toEqual([count, true]);
    }
    for (const header of ['accept', 'cookie', 'x-payment']) {
      const headers = { [header]: Array.from({ length: 98 }, () => 'quittance_0=s~a') };
      const { answer } = await ask(`${proxy.url}/report`, { headers });
      expect([header, answer.statusCode! >= 400]).toEqual([header, true]);
    }
    expect([proxy.isRunning(), upstream.seen]).toEqual([true, []]);
    expect((await ask(`${proxy.url}/report`)).answer.statusCode).toBe(402);
  });

  test('a POST keeps its body, and a HEAD costs nothing', async () => {
    const { proxy, upstream, pay } = await start(name);
    const refused = await ask(`${proxy.url}/report`, { method: 'POST' }, (request) => request.end('body'));
    expect(refused.answer.statusCode).toBe(402);
    const headers = { ...pay(), 'content-length': 4 };
    const paid = await ask(`${proxy.url}/report`, { method: 'POST', headers }, (request) =>
      request.end('body'),
    );
    expect(paid.answer.statusCode).toBe(200);
    expect([upstream.seen[0]!.method, upstream.seen[0]!.headers['content-length']]).toEqual(['POST', '4']);
    expect((await ask(`${proxy.url}/report`, { method: 'HEAD' })).answer.statusCode).toBe(402);
    expect(upstream.seen).toHaveLength(1);
  });
});

/** What answers in place of a gate, and lets nothing through. */
const BROKEN: Record<string, (socket: Socket) => void> = {
  'ends connections': (socket) => void socket.destroy(),
  'answers garbage': (socket) => void socket.once('data', () => socket.end('garbage\r\n\r\n')),
  'breaks off its answer': (socket) => void socket.once('data', () => socket.end('HTTP/1.1 2')),
  'answers 500': (socket) =>
    void socket.once('data', () => socket.end('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n')),
};

suite.each(areThere ? askingProxies : (['no proxy'] as never[]))('%s fails closed', (name) => {
  const expectClosed = async (gatePort: number) => {
    const upstream = await startUpstream((_request, response) => response.end('the answer'));
    stops.push(upstream.stop);
    const proxy = await startAskingProxy(name, { gatePort, upstreamPort: upstream.port });
    stops.push(proxy.stop);
    for (const path of ['/report', '/free']) {
      const { answer } = await ask(`${proxy.url}${path}`);
      expect([path, answer.statusCode! >= 500]).toEqual([path, true]);
    }
    expect([upstream.seen, proxy.isRunning()]).toEqual([[], true]);
  };

  test.each(Object.entries(BROKEN))('if its gate %s', async (_what, serve) => {
    const gate = createServer((socket) => serve(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => gate.close(resolve)));
    await expectClosed((gate.address() as AddressInfo).port);
  });

  test('if its gate is down', async () => expectClosed(await createPortPicker().any()));

  const hasScript = name === 'HAProxy' || name === 'Apache';
  (hasScript ? test : test.skip).each([
    ['at its beginning', /(function authorize\(\w+\))/, '$1 error("broken")'],
    ['after the answer', /(\n *if (answer\.)?status == 200 then)/, '$1 error("broken")'],
  ])('if its script fails %s', async (_when, pattern, text) => {
    const { gate } = await startGateHarness(() => undefined, { upstream: null });
    stops.push(gate.stop);
    // A request that may pass.
    const upstream = await startUpstream((_request, response) => response.end('the answer'));
    stops.push(upstream.stop);
    const proxy = await startAskingProxy(name, {
      ...{ gatePort: gate.port, upstreamPort: upstream.port },
      changeScript: (script) => {
        expect(script).toMatch(pattern);
        return script.replace(pattern, text);
      },
    });
    stops.push(proxy.stop);
    expect((await ask(`${proxy.url}/free`)).answer.statusCode).toBeGreaterThanOrEqual(500);
    expect([upstream.seen, proxy.isRunning()]).toEqual([[], true]);
  });
});

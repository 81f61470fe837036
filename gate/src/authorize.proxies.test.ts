import { afterEach, describe, expect, test } from '@jest/globals';
import { type AskingProxy, askingProxies, startAskingProxy } from '../../test/support/asking-proxies.ts';
import { ask, type GateWorld, startGateWorld, startUpstream } from '../../test/support/gate.ts';
import type { Settings } from './settings.ts';

/** The configurations of examples/gate, with the distribution's proxies and a real upstream. */
const SECRET = 'a secret of thirty-two characters!!';
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const start = async (name: AskingProxy, changed: Partial<Settings> = {}) => {
  const world: GateWorld = await startGateWorld(() => undefined, {
    ...{ upstream: null, upstreamSecret: SECRET },
    ...changed,
  });
  stops.push(world.stop);
  const upstream = await startUpstream((request, response) => {
    response.setHeader('x-path', request.url!);
    response.end('the answer');
  });
  stops.push(upstream.stop);
  const proxy = await startAskingProxy(name, { gatePort: world.gate.port, upstreamPort: upstream.port });
  stops.push(proxy.stop);
  // What the start of the proxy has asked.
  upstream.seen.length = 0;
  return { ...world, upstream, proxy };
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
    const spoofed = {
      'Quittance-Settlement': 'stl_spoofed',
      'X-Original-URI': '/free',
      'X-Forwarded-Uri': '/free',
    };
    const unpaid = await ask(`${proxy.url}/report`, { headers: spoofed });
    expect(unpaid.answer.statusCode).toBe(402);
    const paid = await ask(`${proxy.url}/report?city=Ulm`, {
      headers: { ...headers, ...spoofed, cookie: 'a=1' },
    });
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

  test('a free request passes without the facts that its client has made up, and a spelling of a price does not', async () => {
    const { proxy, upstream } = await start(name);
    const headers = {
      'Quittance-Settlement': 'stl_spoofed',
      Quittance_Token: 'spoofed',
      authorization: 'Bearer a',
    };
    const free = await ask(`${proxy.url}/free`, { headers });
    expect([free.answer.statusCode, free.text]).toEqual([200, 'the answer']);
    const got = upstream.seen[0]!.headers;
    expect(Object.keys(got).filter((key) => key.startsWith('quittance'))).toEqual([]);
    expect(got.authorization).toBe('Bearer a');
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

import { afterEach, describe, expect, test } from '@jest/globals';
import { type GateHarness, sendRaw, startGateHarness, textOf } from '../../../test/support/fixtures/gate.ts';
import type { Settings } from '../settings/settings.ts';

/** What a request may carry. The upstream says what it got. */
let harness: GateHarness;
const start = async (changed: Partial<Settings> = {}) => {
  harness = await startGateHarness(
    async (request, response) =>
      void response.end(`host ${request.headers.host} body ${await textOf(request)}`),
    changed,
  );
  return harness.gate.port;
};
afterEach(() => harness.stop());

const HOSTS = { own: 'shop.example.com:8402', served: ['shop.example.com', '*.shops.example'] };
/** The status, and the reason of a refusal or what the upstream says. */
const said = (text: string): string => {
  const [head, body] = text.split('\r\n\r\n') as [string, string];
  const status = head.split(' ')[1]!;
  const { reason } = /"reason":"(?<reason>\w+)"/.exec(body)?.groups ?? {};
  return `${status} ${reason ?? body.split('\r\n').find((line) => line.startsWith('host'))}`;
};
const ask = async (port: number, lines: string[], body = '') =>
  said(await sendRaw(port, `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`));

describe('the host', () => {
  test.each([
    ['the public one', ['Host: shop.example.com'], '200 host shop.example.com body '],
    [
      'the public one with a port and other letters',
      ['Host: Shop.Example.com.:8402'],
      '200 host Shop.Example.com.:8402 body ',
    ],
    ['one below a name', ['Host: a.shops.example'], '200 host a.shops.example body '],
    ['the name itself', ['Host: shops.example'], '421 host'],
    ['another one', ['Host: admin.internal'], '421 host'],
    ['one that ends like a served one', ['Host: evilshop.example.com'], '421 host'],
    ['no name', ['Host: a b'], '400 host'],
    ['a user', ['Host: shop.example.com@admin.internal'], '400 host'],
    ['an address, as load balancers ask', ['Host: 10.0.0.7:8402'], '200 host shop.example.com:8402 body '],
    ['an address of IPv6', ['Host: [::1]:8402'], '200 host shop.example.com:8402 body '],
    ['localhost', ['Host: localhost:8402'], '200 host shop.example.com:8402 body '],
    ['an empty one', ['Host:'], '200 host shop.example.com:8402 body '],
    ['two', ['Host: shop.example.com', 'Host: admin.internal'], '400 header'],
    ['two that are the same', ['Host: shop.example.com', 'host: shop.example.com'], '400 header'],
  ])('%s', async (_name, lines, expected) => {
    const port = await start({ hosts: HOSTS });
    expect(await ask(port, ['GET /free HTTP/1.1', ...lines])).toBe(expected);
    expect(harness.upstream.seen).toHaveLength(expected.startsWith('200') ? 1 : 0);
  });

  test('of the target counts before the header', async () => {
    const port = await start({ hosts: HOSTS });
    const absolute = (host: string) => `GET http://${host}/free HTTP/1.1`;
    expect(await ask(port, [absolute('admin.internal'), 'Host: shop.example.com'])).toBe('421 host');
    expect(await ask(port, [absolute('shop.example.com'), 'Host: admin.internal'])).toBe(
      '200 host shop.example.com body ',
    );
    expect(await ask(port, ['GET /free HTTP/1.0'])).toBe('200 host shop.example.com:8402 body ');
    const { rawHeaders } = harness.upstream.seen[0]!;
    expect(rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')).toHaveLength(1);
  });

  test('any may be served', async () => {
    const port = await start({ hosts: { ...HOSTS, served: ['*'] } });
    expect(await ask(port, ['GET /free HTTP/1.1', 'Host: 10.0.0.7'])).toBe('200 host 10.0.0.7 body ');
  });
});

describe('doubled headers and bodies', () => {
  test.each([['Authorization: Bearer a'], ['Content-Type: text/plain']])('%s', async (line) => {
    const port = await start();
    const twice = [line, line.toLowerCase()];
    expect(await ask(port, ['GET /free HTTP/1.1', 'Host: x', ...twice])).toBe('400 header');
    expect(harness.upstream.seen).toEqual([]);
  });

  test.each(['GET', 'HEAD', 'OPTIONS', 'TRACE'])('%s has no body', async (method) => {
    const port = await start();
    const head = [`${method} /free HTTP/1.1`, 'Host: x'];
    const sized = await ask(port, [...head, 'Content-Length: 4'], 'body');
    const chunked = await ask(port, [...head, 'Transfer-Encoding: chunked'], '0\r\n\r\n');
    for (const each of [sized, chunked]) expect(each).toMatch(/^400 /);
    expect(harness.upstream.seen).toEqual([]);
    expect(await ask(port, [...head, 'Content-Length: 0'])).toMatch(/^200 /);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'])('%s may have one', async (method) => {
    const port = await start();
    const head = [`${method} /free HTTP/1.1`, 'Host: x', 'Content-Length: 4'];
    expect(await ask(port, head, 'body')).toBe('200 host x body body');
  });
});

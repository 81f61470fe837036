import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKeyText, keyHash } from '../../../shared/lib/tokens/key-text.ts';
import {
  type Gateway,
  newServiceKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';

/** Keys that may be used from some addresses only, behind one trusted proxy: this test. */

let servers: Servers;
let services: Services;
let gateway: Gateway;
let limited = '';
let unlimited = '';
beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
  gateway = await startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: servers.redisPort },
    { publicKeys: [], environments: ['test'] },
  );
  limited = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  unlimited = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  services.allowedIps.set(keyHash(limited), ['203.0.113.0/24', '2001:db8:1::/48']);
});
afterAll(async () => {
  await gateway.stop();
  await services.stop();
  await servers.stop();
});

const callFrom = async (forwarded: string | null, key = limited) => {
  const response = await fetch(`${gateway.url}/v1/quotes`, {
    headers: {
      authorization: `Bearer ${key}`,
      ...(forwarded === null ? {} : { 'x-forwarded-for': forwarded }),
    },
  });
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, ...error };
};

test.each(['203.0.113.9', '2001:db8:1:2::3', '::ffff:203.0.113.9', '198.51.100.1, 203.0.113.9'])(
  'a key with a list may be used from %s',
  async (forwarded) => {
    expect(await callFrom(forwarded)).toEqual({ status: 200 });
  },
);

test.each<[string | null, string]>([
  ['203.0.114.1', '203.0.114.1'],
  ['2001:db8:2::1', '2001:db8:2::1'],
  // The caller wrote the first entry, the proxy the second.
  ['203.0.113.9, 198.51.100.1', '198.51.100.1'],
  ['203.0.113.9, unknown', '127.0.0.1'],
  [null, '127.0.0.1'],
])('it may not be used from %s, and no service is called', async (forwarded, address) => {
  const before = services.calls.length;
  expect(await callFrom(forwarded)).toMatchObject({
    status: 403,
    code: 'forbidden',
    message: expect.stringContaining(`the address ${address};`),
  });
  expect(services.calls).toHaveLength(before);
});

test('a key without a list may be used from any address, and a wrong key is only wrong', async () => {
  expect(await callFrom('198.51.100.1', unlimited)).toEqual({ status: 200 });
  const wrong = createKeyText('vendor_test_');
  expect(await callFrom('198.51.100.1', wrong)).toMatchObject({ status: 401, code: 'unauthorized' });
});

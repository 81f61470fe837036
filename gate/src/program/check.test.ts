import { afterEach, expect, test } from '@jest/globals';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { type GateHarness, startGateHarness, startUpstream } from '../../../test/support/fixtures/gate.ts';
import type { Settings } from '../settings/settings.ts';
import { checkGate } from './check.ts';

let harness: GateHarness;
/** A gate that is reached at its own address. */
const start = async () => {
  // Free calls of the one who checks hide no price.
  const free = { calls: 1000, per: 'day', by: null } as const;
  harness = await startGateHarness((_request, response) => response.end('ok'), {
    routes: [{ match: 'GET /reports/:city', paid: { price: '50000' }, free }],
  });
  const paywall = { ...harness.settings.paywall, publicUrl: harness.url };
  const settings: Settings = { ...harness.settings, paywall };
  harness.gate.reload(settings);
  return settings;
};
afterEach(() => harness.stop());
const faultsOf = async (settings: Settings) =>
  (await checkGate(settings)).map(({ fault }) => fault).filter((fault) => fault !== null);

test('a gate that sells has no fault', async () => {
  expect(await checkGate(await start())).toEqual([
    { probe: `the payment API at ${harness.api.baseUrl} answers`, fault: null },
    { probe: 'GET /reports/:city asks for its price', fault: null },
    { probe: 'GET /reports/:city has no cheaper spelling', fault: null },
    { probe: 'GET /reports/:city has no cheaper method', fault: null },
  ]);
});

test('the quotes of a check are trials, and no buyer gets one of them', async () => {
  const settings = await start();
  await checkGate(settings);
  const tried = harness.api.asked.filter(({ call }) => call === 'POST /v1/quote');
  expect(tried.length).toBeGreaterThan(0);
  for (const { body } of tried) expect((body as { scope: unknown }).scope).toMatchObject({ trial: true });
  const asked = await fetch(`${harness.url}/reports/check`, { headers: { 'quittance-free': 'no' } });
  const { quote_token } = (await asked.json()) as { quote_token: string };
  expect(storedClaims(quote_token).scope).toEqual({ resource: `${harness.url}/reports/check` });
});

test.each<[string, (settings: Settings) => Partial<Settings>, RegExp[]]>([
  [
    'another price',
    () => ({ routes: [{ match: 'GET /reports/:city', paid: { price: '70000' } }] }),
    [/costs 0\.05 USDC, and the settings say 0\.07 USDC: reload the gate/],
  ],
  [
    'a route that the running gate does not know',
    () => ({ routes: [{ match: 'GET /new', paid: { price: '50000' } }] }),
    [/\/new answered 200 without a payment/],
  ],
  [
    'another service',
    ({ paywall }) => ({ paywall: { ...paywall, serviceId: '00000000-0000-4000-8000-000000000000' } }),
    [/asks for a payment to the service .* SERVICE_ID is 00000000/],
  ],
  [
    'an address that nothing answers',
    ({ paywall }) => ({ paywall: { ...paywall, publicUrl: 'http://127.0.0.1:1' } }),
    [/ECONNREFUSED/],
  ],
])('%s is named', async (_name, change, expected) => {
  const settings = await start();
  expect(await faultsOf({ ...settings, ...change(settings) })).toEqual(
    expected.map((text) => expect.stringMatching(text)),
  );
});

const paid = { price: '50000' };
test('a spelling that something before the gate serves is named', async () => {
  const before = await start();
  const front = await startUpstream(async (request, response) => {
    if (request.url !== '/reports/check') return response.end('ok');
    const said = await fetch(`${harness.url}${request.url}`, { headers: { 'quittance-free': 'no' } });
    return response.writeHead(said.status, [...said.headers].flat()).end(await said.text());
  });
  const publicUrl = `http://127.0.0.1:${front.port}`;
  const settings = { ...before, paywall: { ...before.paywall, publicUrl } };
  harness.gate.reload(settings);
  expect(await faultsOf(settings)).toEqual([
    expect.stringMatching(/^GET \S+\/reports\/check\/ answered 200 without a payment/),
  ]);
  const odd = front.seen.map(({ url }) => url).filter((url) => url !== '/reports/check');
  expect(odd).toEqual(['/reports/check/']);
  await front.stop();
});

/** A gate with other settings. */
test.each<[string, Partial<Settings>, RegExp]>([
  [
    'a method that passes unpaid',
    {
      routes: [
        { match: 'POST /reports/:city', paid: null },
        { match: 'GET /reports/:city', paid },
      ],
    },
    /^POST \S+\/reports\/check answered 200 without a payment/,
  ],
  [
    'a method for another price',
    {
      routes: [
        { match: 'POST /**', paid: { price: '20000' } },
        { match: 'GET /reports/:city', paid },
      ],
    },
    /^POST \S+\/reports\/check costs 0\.02 USDC, and the settings say 0\.05 USDC/,
  ],
])('%s is named', async (_name, running, expected) => {
  const settings = await start();
  harness.gate.reload({ ...settings, ...running });
  expect(await faultsOf(settings)).toEqual([expect.stringMatching(expected)]);
});

test('routes of one path with several prices have no fault', async () => {
  const routes = [
    { match: 'GET /v1/report', paid: { price: '70000' } },
    { match: 'POST /v1/report', paid: null },
    { match: '* /v1/**', paid },
  ];
  const settings = { ...(await start()), routes };
  harness.gate.reload(settings);
  expect(await faultsOf(settings)).toEqual([]);
});

test('a public address with another path is named', async () => {
  const settings = await start();
  harness.gate.reload({
    ...settings,
    paywall: { ...settings.paywall, publicUrl: 'https://shop.example.com' },
  });
  expect(await faultsOf(settings)).toEqual([
    expect.stringMatching(/has a quote for https:\/\/shop\.example\.com/),
  ]);
});

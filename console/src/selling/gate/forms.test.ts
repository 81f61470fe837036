import { expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { readGateFile } from '../../../../gate/src/settings/read-file.ts';
import { readCommand, readSettings } from '../../../../gate/src/settings/settings.ts';
import { composeFaults } from '../../../../test/support/base/compose-schema.ts';
import { checkDraft, type GateDraft, newDraft, newRoute, type RouteDraft } from './draft.ts';
import {
  composeFile,
  dockerCommands,
  environmentOf,
  gateCommand,
  gateYaml,
  kubernetesFile,
  proxyFiles,
} from './forms.ts';

/** What the page makes of a form is given to the gate's own parsers. */

const filled = {
  baseUrl: 'https://api.quittance.example',
  environment: 'test',
  serviceId: '0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17',
  price: '50000',
} as const;
const env = {
  QUITTANCE_URL: filled.baseUrl,
  SERVICE_ID: filled.serviceId,
  SERVICE_KEY: 'vendor_test_key',
  OFFER_SECRET: 'x'.repeat(32),
};
const route = (changed: Partial<RouteDraft>): RouteDraft => ({ ...newRoute(0, '0.05'), ...changed });
const draftOf = (routes: RouteDraft[], changed: Partial<GateDraft> = {}): GateDraft => ({
  ...newDraft('0.05'),
  routes,
  ...changed,
});
const check = (draft: GateDraft) => checkDraft(draft, new Map());
const without = (draft: GateDraft) => {
  const { texts, faults } = check(draft);
  expect(faults).toEqual({});
  return texts;
};

/** The arguments of a command, as a shell reads them. */
const argumentsOf = (command: string): string[] =>
  [...command.replaceAll('\\\n', ' ').matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)]
    .map(([, quoted, bare]) => quoted?.replaceAll("'\\''", "'") ?? bare!)
    .slice(2);
const settingsOf = (args: string[], content = '') => {
  const command = readCommand(args);
  if (command.kind !== 'run') throw new TypeError(command.kind);
  return readSettings(command, env, () => content);
};

const metered = route({ methods: 'POST', path: '/chat', kind: 'metered' });
const ROUTES: readonly (readonly [string, RouteDraft[]])[] = [
  ['a price', [route({})]],
  ['a price in another notation', [route({ price: '1.234,50' })]],
  ['methods in small letters, and all that follows', [route({ methods: 'get, post', path: '/a/:b/**' })]],
  ['all methods', [route({ methods: '*', path: '/' })]],
  ['an apostrophe and an at sign', [route({ path: "/it's/@me" })]],
  ['use by units', [metered]],
  [
    'use by a price, without a tab',
    [route({ ...metered, costBy: 'price', header: 'X-Price', isTab: false })],
  ],
  ['the same price each time', [route({ ...metered, costBy: 'same', price: '0.0005' })]],
  ['in the order of options', [route({}), metered, route({ path: '/health', kind: 'free' })]],
];

test.each(ROUTES)('file and command of %s are read by the gate, and say the same', (_name, routes) => {
  const draft = draftOf(routes);
  const texts = without(draft);
  const byFile = settingsOf(['gate.yaml'], gateYaml(texts));
  const byCommand = settingsOf(argumentsOf(gateCommand(texts)!));
  expect(JSON.stringify(byCommand.routes, withBigints)).toBe(JSON.stringify(byFile.routes, withBigints));
  expect(byFile.routes.length).toBe(routes.length);
  expect(byFile.upstream?.origin).toBe('http://127.0.0.1:9000');
  expect(byCommand.upstream?.origin).toBe('http://127.0.0.1:9000');
});
const withBigints = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

test('a command that would price other requests than the file is not shown', () => {
  const free = route({ path: '/report/sample', kind: 'free' });
  const all = route({ path: '/report/*' });
  expect(gateCommand(without(draftOf([free, all])))).toBeNull();
  expect(gateCommand(without(draftOf([all, free])))).not.toBeNull();
  expect(gateCommand(without(draftOf([route({ kind: 'prepaid' })])))).toBeNull();
  expect(gateCommand(without(draftOf([all], { dialects: ['x402'] })))).toBeNull();
});

test('packs, protocols, refusal and listener are in the file', () => {
  const draft = draftOf([route({ kind: 'prepaid', units: '250' })], {
    dialects: ['x402', 'mpp'],
    isRefusing: true,
    listen: '0.0.0.0:80',
  });
  expect(settingsOf(['gate.yaml'], gateYaml(without(draft)))).toMatchObject({
    listen: { host: '0.0.0.0', port: 80 },
    routes: [{ match: 'GET /report', paid: { price: '50000', prepaid: { units: 250 } } }],
    passesUnmatched: false,
    dialects: ['x402', 'mpp'],
  });
  expect(environmentOf(draft, filled)).toContain('export OFFER_SECRET=$(openssl rand -hex 32)');
});

test.each([
  ['upstream', draftOf([route({})], { upstream: '127.0.0.1:9000' }), /^Use an address with its scheme/],
  ['upstream', draftOf([route({})], { upstream: 'http://a/b' }), /^Leave out the path/],
  ['public_url', draftOf([route({})], { publicUrl: 'api.example.com' }), /^Use an address with its scheme/],
  ['listen', draftOf([route({})], { listen: '' }), /^Use a port/],
  ['routes.0.methods', draftOf([route({ methods: 'GET;POST' })]), /^Use methods and a path/],
  ['routes.0.path', draftOf([route({ path: 'report' })]), /^Use methods and a path/],
  ['routes.0.path', draftOf([route({ path: '/a/**/b' })]), /must be the last part\.$/],
  ['routes.0.price', draftOf([route({ price: '0' })]), /^Enter an amount above zero/],
  ['routes.0.price', draftOf([route({ price: '1,234' })]), /^Enter an amount above zero/],
  ['routes.1.units', draftOf([route({}), route({ kind: 'prepaid', units: 'ten' })]), /^Use a whole number/],
  ['routes.0.perCall', draftOf([route({ ...metered, perCall: '2' })]), /^Use at most max/],
  ['routes.0.header', draftOf([route({ ...metered, header: 'a b' })]), /^Use the name of one header/],
  ['public_url', draftOf([route({})], { before: 'caddy' }), /^Enter the address of your proxy/],
  ['routes', draftOf([route({ kind: 'free' })]), /^No route has a price/],
  ['routes', draftOf([metered], { before: 'nginx', publicUrl: 'http://a' }), /is metered/],
  [
    'upstream',
    draftOf([route({})], { before: 'apache', upstream: 'https://a', publicUrl: 'http://a' }),
    /^Use http:/,
  ],
] as const)('a mistake in %s is found at its field', (field, draft, text) => {
  const { faults } = check(draft);
  expect(Object.keys(faults)).toEqual([field]);
  expect(faults[field]).toMatch(text);
});

test('a price that its fee consumes is refused with the lowest one', () => {
  const fee = { fee_amount: '10000', net_amount: '0', lowest_price: '10001' };
  const { faults } = checkDraft(draftOf([route({ price: '0.01' })]), new Map([['10000', fee as never]]));
  expect(faults).toEqual({ 'routes.0.price': 'The fee is 0.01 USDC. The lowest price is 0.010001 USDC.' });
});

test('Compose, Docker and Kubernetes get the port, the names of the environment, and no key', () => {
  const draft = draftOf([route({})], {
    upstream: 'http://api:9000',
    publicUrl: 'https://api.example.com',
    listen: '8080',
  });
  const compose = parse(composeFile(draft));
  expect(composeFaults(compose)).toEqual([]);
  // Whoever writes the records of the store has deliveries for nothing.
  expect(compose.services.store.command).toContain('--requirepass');
  expect(compose.services.store.networks).toEqual(['store']);
  expect(compose.networks.store).toEqual({ internal: true });
  expect(compose.services.gate.environment).toContain(
    `STORE_URL=redis://:${compose.services.store.command.at(-1)}@store`,
  );
  const args = compose.services.gate.command as string[];
  expect(settingsOf(args.map(String), gateYaml(without(draft)))).toMatchObject({
    listen: { host: '0.0.0.0', port: 8080 },
    operations: { host: '0.0.0.0', port: 9402 },
  });
  const docker = dockerCommands(draft, filled);
  expect(docker).toContain('--publish 8080:8080');
  expect(docker).toContain('--env SERVICE_KEY ');
  expect(dockerCommands({ ...draft, upstream: 'http://localhost:9000' }, filled)).toContain('--network host');
  const [config, deployment] = parseAllDocuments(kubernetesFile(without(draft))).map((each) => each.toJS());
  expect(readGateFile('gate.yaml', config.data['gate.yaml'])).toMatchObject({
    upstream: 'http://api:9000',
    listen: { host: '0.0.0.0', port: 8402 },
    operations: { port: 9402 },
  });
  expect(deployment.spec.template.spec.volumes).toEqual([
    { name: 'routes', configMap: { name: config.metadata.name } },
  ]);
});

test.each(['nginx', 'caddy', 'haproxy', 'apache'] as const)(
  'the files of %s have both addresses',
  (before) => {
    const publicUrl = 'https://api.example.com';
    const upstream = 'http://10.0.0.7:8402';
    const draft = draftOf([route({})], { before, upstream, publicUrl, listen: '9000' });
    expect(settingsOf(['gate.yaml'], gateYaml(without(draft)))).toMatchObject({
      upstream: null,
      listen: { port: 9000 },
    });
    const text = proxyFiles(draft)
      .map((each) => each.text)
      .join('\n');
    expect(text).toContain('10.0.0.7:8402');
    expect(text).toContain('127.0.0.1:9000');
    expect(text).not.toContain('127.0.0.1:8402');
    expect(text).not.toContain('quittance-gate --authorize');
  },
);

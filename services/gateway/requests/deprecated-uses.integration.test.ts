import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { connectBus, drainBus } from '../../../shared/bus/connect.ts';
import { askEach } from '../../../shared/bus/each.ts';
import { DEPRECATED_USES, type DeprecatedUses } from '../../../shared/contract/deprecated.ts';
import { quote } from '../../../shared/contract/index.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createLogger } from '../../../shared/lib/telemetry/logger.ts';
import { startTelemetry, type Telemetry } from '../../../shared/lib/telemetry/telemetry.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  gatewayUser,
  newServiceKey,
  newSigningKey,
  operatorUser,
  type Servers,
  type Services,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';
import { scrape } from '../../../test/support/servers/scrape.ts';
import { config } from '../config.ts';
import { openEnvironment } from '../environments/environment.ts';
import { connectRedis, type Redis } from '../redis/connect.ts';
import { createService } from '../service.ts';

/**
 * A deprecated operation, over a real Redis and NATS. The contract may have none at the moment, so
 * this gateway runs here, with a contract that has one.
 */
const DEPRECATED = { since: '2027-01-15', until: '2027-08-01', use: '`quote.get`' } as const;
const { list } = quote.operations as Record<string, object>;
const session = newSigningKey('test.session.1');
const logger = createLogger('gateway', 'fatal');

let servers: Servers;
let services: Services;
let redis: Redis;
let environments: Map<string, ReturnType<typeof openEnvironment>>;
let service: ReturnType<typeof createService>;
let url: string;
let telemetry: Telemetry;
let page: string;

beforeAll(async () => {
  Object.assign(list!, { deprecated: DEPRECATED });
  const port = await createPortPicker().any();
  process.env.OTEL_EXPORTER_PROMETHEUS_HOST = '127.0.0.1';
  process.env.OTEL_EXPORTER_PROMETHEUS_PORT = String(port);
  page = `http://127.0.0.1:${port}/metrics`;
  telemetry = await startTelemetry('gateway', { OTEL_METRICS_EXPORTER: 'prometheus' }, logger);
  servers = await startServers();
  services = await startServices(servers);
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
  const connections = (['test', 'live'] as const).map((name) => ({
    name,
    nats_url: `nats://127.0.0.1:${servers.natsPort}`,
    nats_nkey_seed: gatewayUser(name).seed,
  }));
  redis = connectRedis(`redis://127.0.0.1:${servers.redisPort}`, logger);
  environments = new Map(connections.map((each) => [each.name, openEnvironment(each, logger)]));
  const settings = config.parse({
    HTTP_PORT: '0',
    PUBLIC_URL: 'https://api.example',
    ENVIRONMENTS: JSON.stringify(connections),
    REDIS_URL: 'redis://127.0.0.1',
    PUBLIC_KEYS: JSON.stringify([session.entry]),
    USDC_MINTS: '{}',
    X402_NETWORKS: '{}',
    CORS_ORIGINS: 'https://page.example',
  });
  service = createService({ logger, redis }, settings, environments);
  await Promise.all([...environments.values()].map(({ reached }) => reached));
  url = await service.server.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  Reflect.deleteProperty(list!, 'deprecated');
  await service.server.close();
  await service.requestLog.stop();
  await service.deprecatedUses.stop();
  redis.disconnect();
  await telemetry.stop();
  for (const { busIfConnected } of environments.values()) await drainBus(busIfConnected()!);
  await services.stop();
  await servers.stop();
});

const accountWith = (environment: 'test' | 'live') => {
  const accountId = newId('acct');
  const key = services.addKey(createKeyText(`vendor_${environment}_`), newServiceKey(accountId));
  const get = (asked: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${asked}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  return { accountId, get };
};

const usesIn = async (environment: 'test' | 'live') => {
  const bus = await connectBus({
    url: `nats://127.0.0.1:${servers.natsPort}`,
    user: 'operator',
    operator: 'jane',
    seed: operatorUser(environment).seed,
    logger,
  });
  try {
    const [answer] = (await askEach(bus, ['gateway'], DEPRECATED_USES)) as DeprecatedUses[];
    return answer!.uses;
  } finally {
    await drainBus(bus);
  }
};

const NOTICE = {
  deprecation: '@1799971200',
  sunset: 'Sun, 01 Aug 2027 00:00:00 GMT',
  link: '<https://api.example/docs/guides/versioning>; rel="deprecation"; type="text/html"',
};
const noticeOf = ({ headers }: Response) =>
  Object.fromEntries(Object.keys(NOTICE).map((name) => [name, headers.get(name)]));
const NONE = { deprecation: null, sunset: null, link: null };

test('each answer of a deprecated operation says so, its refusals too, and no other answer does', async () => {
  const { get } = accountWith('test');
  const page = { origin: 'https://page.example' };
  const answers = [
    await get('/v1/quotes', page),
    await get('/v1/quotes?limit=0'),
    await fetch(`${url}/v1/quotes`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 401]);
  for (const answer of answers) expect(noticeOf(answer)).toEqual(NOTICE);
  expect(answers[0]!.headers.get('access-control-expose-headers')).toContain('deprecation, sunset, link');
  expect(noticeOf(await get(`/v1/quotes/${newId('q')}`))).toEqual(NONE);
  expect(noticeOf(await fetch(`${url}/v1/health`))).toEqual(NONE);
});

test('calls are counted by operation and environment, those of the console too', async () => {
  const counted = async (environment: string) =>
    (await scrape(page)).value('quittance_deprecated_calls_total', {
      environment,
      operation: 'quote.list',
    }) ?? 0;
  const before = await counted('live');
  const { get } = accountWith('live');
  await get('/v1/quotes');
  await get('/v1/quotes', { 'sec-fetch-site': 'same-origin' });
  await get(`/v1/quotes/${newId('q')}`);
  await waitFor(
    () => counted('live'),
    (calls) => calls === before + 2,
  );
});

test('an operator sees which accounts have used it last, by environment and without the console', async () => {
  const [first, second, live, person] = [
    accountWith('test'),
    accountWith('test'),
    accountWith('live'),
    accountWith('test'),
  ];
  await first.get('/v1/quotes');
  await person.get('/v1/quotes', { 'sec-fetch-site': 'same-origin' });
  await person.get(`/v1/quotes/${newId('q')}`);
  await live.get('/v1/quotes');
  await second.get('/v1/quotes');
  const known = new Set([first, second, live, person].map(({ accountId }) => accountId));
  const usedBy = async (environment: 'test' | 'live') =>
    (await usesIn(environment)).filter(({ account_id }) => known.has(account_id));
  const uses = await waitFor(
    () => usedBy('test'),
    ({ length }) => length === 2,
  );
  expect(uses).toEqual([
    { operation: 'quote.list', account_id: second.accountId, last_used_at: expect.any(String) },
    { operation: 'quote.list', account_id: first.accountId, last_used_at: expect.any(String) },
  ]);
  expect((await usedBy('live')).map(({ account_id }) => account_id)).toEqual([live.accountId]);
  await first.get('/v1/quotes');
  const again = await waitFor(
    () => usedBy('test'),
    ([newest]) => newest?.account_id === first.accountId,
  );
  expect(again).toHaveLength(2);
});

test('those that were used last are kept', async () => {
  const key = 'deprecated:live';
  const older = Array.from({ length: 5000 }, (_, at) => [at, `quote.list older_${at}`]);
  await redis.zadd(key, ...older.flat());
  const { accountId, get } = accountWith('live');
  await get('/v1/quotes');
  const uses = await waitFor(
    () => usesIn('live'),
    ([newest]) => newest?.account_id === accountId,
  );
  expect(uses).toHaveLength(5000);
  expect(uses.map(({ account_id }) => account_id)).not.toContain('older_0');
  await redis.del(key);
});

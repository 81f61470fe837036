import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSupervisor } from '../../deploy/local/processes/supervisor.ts';
import { natsServer } from '../../deploy/local/servers/nats-server.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { redisServer } from '../../deploy/local/servers/redis-server.ts';
import { type Bus, connectBus, drainBus } from '../../shared/bus/connect.ts';
import { encode } from '../../shared/bus/envelope.ts';
import { type IdempotentCalls, type Serving, serve } from '../../shared/bus/serve.ts';
import type { CallKey } from '../../shared/contract/idempotency.ts';
import type { KeyRefusal } from '../../shared/contract/identity.ts';
import { contractList } from '../../shared/contract/index.ts';
import type { Environment } from '../../shared/contract/primitives.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import { type Handlers, type ServiceContract, subjects } from '../../shared/contract/service.ts';
import { rawPublicKey } from '../../shared/lib/ed25519.ts';
import { newId } from '../../shared/lib/id.ts';
import { keyHash } from '../../shared/lib/key-text.ts';
import type { SigningKey } from '../../shared/lib/keys.ts';
import { createLogger } from '../../shared/lib/logger.ts';
import { testUsers } from './bus.ts';
import { inherited } from './inherited.ts';
import { programOf } from './programs.ts';
import { atSuiteClock } from './suite-clock.ts';
import { waitUntil } from './wait.ts';

/**
 * The fixture of the gateway's tests: a real NATS with two environments and the real rights, a real
 * Redis, and the gateway as its own process. The services answer what a test sets, through the
 * contract.
 */
const ENVIRONMENTS = ['test', 'live'] as const;

type Answer = (input: Record<string, unknown>, caller?: Principal) => unknown;
type Call = {
  environment: Environment;
  operation: string;
  input: unknown;
  caller: Principal | undefined;
};

export type Services = {
  /** Calls that reached a service, newest last, without the credential queries of identity. */
  calls: Call[];
  /**
   * `<service>.<operation>` → the function that answers. The service throws what the function
   * throws.
   */
  answers: Record<string, Answer>;
  /** `<service>.<operation>` → the answer of an earlier call with any Idempotency-Key. */
  earlierAnswers: Record<string, object>;
  /** The keys of identity, by the hash of their text. */
  keys: Map<string, Principal>;
  /** From where keys may be used, by the hash of their text. All others: from any address. */
  allowedIps: Map<string, string[]>;
  /** Keys that identity refuses, by the hash of their text, with the reason. */
  refusedKeys: Map<string, { refused: KeyRefusal; since: string }>;
  revokedSessions: Set<string>;
  /** Account → the factor of its limits; 1 for all others. */
  limitFactors: Map<string, number>;
  /** Nonces of browsers that have signed in to every address. */
  knownBrowsers: Set<string>;
  /** Revokes a session and publishes the event as identity does. */
  revokeSession: (environment: Environment, session: { account_id: string; session_id: string }) => void;
  addKey: (text: string, principal: Principal) => string;
  /** The key hashes that the gateway queried from identity, newest last. */
  queriedHashes: string[];
  /** Publishes an event in the name of a service. */
  publish: (environment: Environment, service: string, event: string, payload: object) => Promise<void>;
  stop: () => Promise<void>;
};

export type Servers = {
  natsPort: number;
  redisPort: number;
  stop: () => Promise<void>;
};

/** The NKEYs of each environment. */
const users = Object.fromEntries(ENVIRONMENTS.map((environment) => [environment, testUsers()])) as Record<
  Environment,
  ReturnType<typeof testUsers>
>;

/** The NATS login of the gateway in an environment. */
export const gatewayUser = (environment: Environment) => ({ seed: users[environment].seedOf('gateway') });

/** Starts nats-server with an account per environment, and redis-server. */
export const startServers = async (): Promise<Servers> => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'gateway-'));
  const picker = createPortPicker();
  const [natsPort, redisPort] = [await picker.any(), await picker.any()];
  const accounts = ENVIRONMENTS.map((environment) => ({
    name: environment.toUpperCase(),
    users: users[environment].users,
  }));
  const supervisor = createSupervisor({ logDir: stateDir, stackFile: path.join(stateDir, 'stack.json') });
  await supervisor.start([
    natsServer({ stateDir, port: natsPort, accounts }),
    redisServer({ stateDir, port: redisPort }),
  ]);
  return {
    natsPort,
    redisPort,
    stop: async () => {
      await supervisor.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};

/** Starts all services of both environments, each with its own NATS user. */
export const startServices = async ({ natsPort }: Servers): Promise<Services> => {
  const logger = createLogger('test', 'fatal');
  const buses: Bus[] = [];
  const busOf = new Map<string, Bus>();
  const queriedHashes: string[] = [];
  const serving: Serving[] = [];
  const keys = new Map<string, Principal>();
  const refusedKeys: Services['refusedKeys'] = new Map();
  const allowedIps: Services['allowedIps'] = new Map();
  const revokedSessions = new Set<string>();
  const limitFactors = new Map<string, number>();
  const knownBrowsers = new Set<string>();
  const factorOf = (principal: Principal) =>
    principal.kind === 'none' ? 1 : (limitFactors.get(principal.account_id) ?? 1);
  const calls: Call[] = [];
  const answers: Record<string, Answer> = {};
  const earlierAnswers: Record<string, object> = {};
  const identity: Record<string, Answer> = {
    findKeys: ({ key_hashes }) =>
      (key_hashes as string[]).map((key_hash) => {
        queriedHashes.push(key_hash);
        const principal = keys.get(key_hash);
        const allowed_ips = allowedIps.get(key_hash);
        if (principal !== undefined)
          return {
            principal,
            limit_factor: factorOf(principal),
            ...(allowed_ips === undefined ? {} : { allowed_ips }),
          };
        return refusedKeys.get(key_hash) ?? null;
      }),
    findSessions: ({ sessions }) =>
      (sessions as { session_id: string; account_id: string }[]).map(({ session_id, account_id }) => ({
        open: !revokedSessions.has(session_id),
        frozen: false,
        limit_factor: limitFactors.get(account_id) ?? 1,
      })),
    isKnownBrowser: ({ browser_nonce }) => ({ known: knownBrowsers.has(browser_nonce as string) }),
  };

  const handler = (environment: Environment, service: string, name: string) => {
    const operation = `${service}.${name}`;
    return async (input: Record<string, unknown>, caller?: Principal) => {
      if (service === 'identity' && identity[name] !== undefined) return identity[name](input);
      calls.push({ environment, operation, input, caller });
      const answer = answers[operation];
      if (answer === undefined) throw new Error(`no answer for ${operation}: the secret inside`);
      return answer(input, caller);
    };
  };
  for (const environment of ENVIRONMENTS) {
    for (const contract of contractList) {
      if (contract.name === 'gateway') continue;
      const bus = await connectBus({
        url: `nats://127.0.0.1:${natsPort}`,
        user: contract.name,
        seed: users[environment].seedOf(contract.name),
        logger,
      });
      buses.push(bus);
      busOf.set(`${environment}.${contract.name}`, bus);
      const names = [...Object.keys(contract.operations), ...Object.keys(contract.internal)];
      const handlers = Object.fromEntries(
        names.map((name) => [name, handler(environment, contract.name, name)]),
      ) as unknown as Handlers<ServiceContract>;
      const calls: IdempotentCalls = async (call, work) => {
        const answer = earlierAnswers[`${contract.name}.${call.operation}`];
        const key = { begun: null } as CallKey;
        return answer === undefined ? { ok: await work(key) } : { ok: answer, replayed: true };
      };
      serving.push(serve(bus, contract, handlers, { calls }));
      await bus.nc.flush();
    }
  }
  return {
    calls,
    answers,
    earlierAnswers,
    keys,
    allowedIps,
    refusedKeys,
    revokedSessions,
    limitFactors,
    knownBrowsers,
    revokeSession: (environment, session) => {
      revokedSessions.add(session.session_id);
      const { nc } = busOf.get(`${environment}.identity`)!;
      nc.publish(subjects.event('identity', 'sessionRevoked'), encode(session));
    },
    addKey: (text, principal) => {
      keys.set(keyHash(text), principal);
      return text;
    },
    queriedHashes,
    publish: async (environment, service, event, payload) => {
      const { nc } = busOf.get(`${environment}.${service}`)!;
      nc.publish(`evt.${service}.${event}`, JSON.stringify(payload));
      await nc.flush();
    },
    stop: async () => {
      await Promise.all(serving.map((each) => each.stop()));
      await Promise.all(buses.map(drainBus));
    },
  };
};

/** A signing key of one environment and use, with its entry in the list of public keys. */
export const newSigningKey = (kid: string, retired_at?: string) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const signing: SigningKey = { kid, key: privateKey };
  const x = Buffer.from(rawPublicKey(privateKey)).toString('base64url');
  return { signing, x, entry: { kid, x, ...(retired_at === undefined ? {} : { retired_at }) } };
};

export type Gateway = {
  url: string;
  port: number;
  process: ChildProcess;
  /** Everything it wrote to stdout and stderr. */
  log: () => string;
  stop: () => Promise<number | null>;
};

/** Starts the gateway as its own process and waits until it answers. */
export const startGateway = async (
  { natsPort, redisPort }: { natsPort: Record<Environment, number>; redisPort: number },
  {
    publicKeys,
    limits,
    environments = ENVIRONMENTS,
    waitForReady = true,
    env = {},
  }: {
    publicKeys: readonly object[];
    limits?: object;
    environments?: readonly Environment[];
    waitForReady?: boolean;
    env?: Record<string, string>;
  },
): Promise<Gateway> => {
  const port = await createPortPicker().any();
  const folder = mkdtempSync(path.join(tmpdir(), 'gateway-limits-'));
  const limitsFile = path.join(folder, 'limits.json');
  writeFileSync(limitsFile, JSON.stringify(limits ?? {}));
  const child = spawn(process.execPath, [...atSuiteClock, await programOf('gateway')], {
    env: {
      ...inherited,
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(port),
      LOG_LEVEL: 'debug',
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      ENVIRONMENTS: JSON.stringify(
        environments.map((name) => ({
          name,
          nats_url: `nats://127.0.0.1:${natsPort[name]}`,
          nats_nkey_seed: gatewayUser(name).seed,
        })),
      ),
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      PUBLIC_KEYS: JSON.stringify(publicKeys),
      USDC_MINTS: '{}',
      X402_NETWORKS: '{}',
      LIMITS_FILE: limitsFile,
      // Tests set the address from which they call.
      TRUSTED_HOPS: '1',
      DRAIN_SECONDS: '0.3',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log += String(text)));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  const gateway: Gateway = {
    url,
    port,
    process: child,
    log: () => log,
    stop: async () => {
      child.kill('SIGTERM');
      const code = await exited;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
  const probe = waitForReady ? '/v1/health/ready' : '/v1/health';
  const isUp = async () => (await fetch(url + probe).catch(() => null))?.ok === true;
  try {
    await waitUntil(isUp, { withinMs: 120_000, everyMs: 100 });
  } catch {
    await gateway.stop();
    throw new Error(`the gateway did not become ready:\n${log}`);
  }
  return gateway;
};

export type GatewayFixture = { services: Services; gateway: Gateway; stop: () => Promise<void> };

/** Starts a gateway with its servers and services, for suites that stop none of them. */
export const startGatewayFixture = async (
  options: Parameters<typeof startGateway>[1],
): Promise<GatewayFixture> => {
  const servers = await startServers();
  const services = await startServices(servers);
  const natsPort = { test: servers.natsPort, live: servers.natsPort };
  const gateway = await startGateway({ natsPort, redisPort: servers.redisPort }, options);
  return {
    services,
    gateway,
    stop: async () => {
      await gateway.stop();
      await services.stop();
      await servers.stop();
    },
  };
};

/**
 * Sends bytes unchanged and reads until the server closes, for requests that no HTTP client would
 * send.
 */
export const sendRaw = (port: number, bytes: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(5000, () => socket.destroy());
    socket.on('data', (data) => (answer += data.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });

/** Principals with new ids, so that tests do not share rate limits. */
export const newServiceKey = (account = newId('acct')): Extract<Principal, { kind: 'service_key' }> => ({
  kind: 'service_key',
  account_id: account,
  service_id: '0190a5b0-0000-7000-8000-000000000001',
  key_id: newId('key'),
});
export const newDelegateKey = (account = newId('acct')): Extract<Principal, { kind: 'delegate_key' }> => ({
  kind: 'delegate_key',
  account_id: account,
  delegate_id: newId('del'),
  wallet_id: newId('wal'),
  key_id: newId('key'),
});

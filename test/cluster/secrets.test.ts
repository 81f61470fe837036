import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'nats';
import pg from 'pg';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type SignIn, signIn } from '../../deploy/local/seed/sign-in.ts';
import { loginWith, newNkeySeed, nkeyOf } from '../../shared/bus/nkey.ts';
import { USERS_FILE } from '../../tools/k8s/bus.ts';
import { publish, retire, use } from '../../tools/signing-keys.ts';
import { waitFor } from '../support/base/wait.ts';
import { recordFigures } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import { beginLoad, type ClusterLoad, refusedLines } from './support/load.ts';
import { secondsSince } from './support/pods.ts';
import {
  changeConfigMap,
  changeSecret,
  repeatJob,
  resetSecrets,
  restart,
  secretValue,
} from './support/secrets.ts';

/**
 * Proves the section "Replacing a secret" of docs/kubernetes.md, each procedure during payments: a
 * signing key, the secrets of services, a database password and a key of the bus are replaced
 * without a refused call. In each case the old secret is refused afterwards.
 */
let installation: Installation;
let load: ClusterLoad | undefined;
const SERVICE = 'quote';
const DATABASE = 'quittance_test';
const ROLE = `${DATABASE}_${SERVICE}`;

beforeAll(async () => {
  installation = await runningInstallation();
});
afterEach(async () => {
  await load?.close();
  load = undefined;
});
afterAll(async () => {
  if (installation === undefined) return;
  const { kubectl, close } = installation;
  await resetSecrets(kubectl);
  await restart(kubectl, ['statefulset/nats']);
  await repeatJob(kubectl, 'migrate');
  await restart(kubectl, (await verifiers()).concat(`deployment/${SERVICE}`, 'deployment/identity'));
  await close();
}, 900_000);

/** The Deployments that verify tokens. */
const verifiers = async (): Promise<string[]> =>
  (await installation.kubectl.list('deployments'))
    .filter(({ spec }) =>
      spec.template.spec.containers[0].env?.some(({ name }: { name: string }) => name === 'PUBLIC_KEYS'),
    )
    .map(({ metadata }) => `deployment/${metadata.name}`);

/** Ends the load. Returns the refused calls, and what is wrong with the payments. */
const conclude = async (): Promise<{ refused: string[]; wrong: string[] }> => {
  const wrong = await load!.conclude();
  return { refused: refusedLines(load!.refused()), wrong };
};

const publishedKids = async (): Promise<string[]> => {
  const answer = await fetch(`${installation.stack.gateway_url}/.well-known/jwks.json`);
  return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
};

test('a signing key: published, used, retired, without a refused call', async () => {
  const { kubectl } = installation;
  load = await beginLoad(installation, { perSecond: 1 });
  const startedAt = performance.now();
  const all = await verifiers();
  const { data } = await kubectl.json(['get', 'configmap', 'public-keys']);
  const first = {
    signingKeys: await secretValue(kubectl, SERVICE, 'SIGNING_KEYS'),
    publicKeys: data.PUBLIC_KEYS as string,
  };
  const published = publish(first);
  await changeConfigMap(kubectl, 'public-keys', { PUBLIC_KEYS: published.publicKeys });
  await changeSecret(kubectl, SERVICE, { SIGNING_KEYS: published.signingKeys });
  await restart(kubectl, all);
  const next = published.signingKeys.split(',')[1]!.split(':')[0]!;
  // A pod that ends still answers on the connections that it has.
  await waitFor(publishedKids, (kids) => kids.includes(next), 60_000, 500);

  const used = use(published);
  await changeSecret(kubectl, SERVICE, { SIGNING_KEYS: used.signingKeys });
  await restart(kubectl, [`deployment/${SERVICE}`]);
  const retired = retire(used);
  await changeSecret(kubectl, SERVICE, { SIGNING_KEYS: retired.signingKeys });
  await restart(kubectl, [`deployment/${SERVICE}`]);
  expect(retired.signingKeys.startsWith(`${next}:`)).toBe(true);
  expect(await secretValue(kubectl, SERVICE, 'SIGNING_KEYS')).toBe(retired.signingKeys);

  const seconds = secondsSince(startedAt);
  const result = await conclude();
  recordFigures('signing key replaced', { seconds, ...load.counts(), ...result });
  expect(result).toEqual({ refused: [], wrong: [] });
}, 900_000);

test('the secrets of identity: added, first, removed, without a refused call or a lost sign-in', async () => {
  const { kubectl, stack } = installation;
  load = await beginLoad(installation, { perSecond: 1 });
  const startedAt = performance.now();
  const api = createApi(stack.gateway_url);
  const refresh = (refresh_token: string) =>
    api<SignIn>('POST /v1/auth/refresh', { body: { refresh_token } });
  const names = ['IDENTITY_SECRET', 'CURSOR_KEY'] as const;
  const lists = await Promise.all(
    names.map(async (name) => {
      const old = await secretValue(kubectl, 'identity', name);
      const next = randomBytes(32).toString('base64url');
      return { name, steps: [`${old},${next}`, `${next},${old}`, next] };
    }),
  );
  const idle = await signIn(api, stack, `${crypto.randomUUID()}@example.com`, 'test');
  let { refresh_token } = await signIn(api, stack, `${crypto.randomUUID()}@example.com`, 'test');
  for (const step of [0, 1, 2]) {
    const values = Object.fromEntries(lists.map(({ name, steps }) => [name, steps[step]!]));
    await changeSecret(kubectl, 'identity', values);
    await restart(kubectl, ['deployment/identity']);
    ({ refresh_token } = await must(refresh(refresh_token), 'refresh'));
  }
  const seconds = secondsSince(startedAt);
  const result = await conclude();
  recordFigures('secrets of identity replaced', { seconds, ...load.counts(), ...result });
  expect(result).toEqual({ refused: [], wrong: [] });
  // Nothing has refreshed it since the second step.
  expect((await refresh(idle.refresh_token)).status).toBe(401);
}, 900_000);

/** A second login with the rights of the first, for the time of the replacement. */
const secondLogin = (password: string): string => `
  create role ${ROLE}_next login password '${password}' in role ${ROLE};
  alter role ${ROLE}_next in database ${DATABASE} set role = '${ROLE}';
  alter role ${ROLE}_next in database ${DATABASE} set search_path = "${SERVICE}", public;
  alter role ${ROLE}_next in database ${DATABASE} set enable_seqscan = off;
  alter role ${ROLE}_next in database ${DATABASE} set jit = off;
`;

const inDatabase = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

test('a database password, by a second login, without a refused call', async () => {
  const { kubectl, stack } = installation;
  load = await beginLoad(installation, { perSecond: 1 });
  const startedAt = performance.now();
  const asAdmin = (sql: string) => inDatabase(stack.postgres_urls.settlement, (client) => client.query(sql));
  const urlOf = (role: string, password: string): string =>
    `postgres://${role}:${password}@postgres-rw:5432/${DATABASE}`;
  const old = new URL(await secretValue(kubectl, SERVICE, 'POSTGRES_URL'));
  const [between, next] = [crypto.randomUUID(), crypto.randomUUID()];
  try {
    await asAdmin(secondLogin(between));
    await changeSecret(kubectl, SERVICE, { POSTGRES_URL: urlOf(`${ROLE}_next`, between) });
    await restart(kubectl, [`deployment/${SERVICE}`]);

    const passwords = JSON.parse(await secretValue(kubectl, 'setup', 'DATABASE_PASSWORDS')) as object;
    const changed = JSON.stringify({ ...passwords, [SERVICE]: next });
    await changeSecret(kubectl, 'setup', { DATABASE_PASSWORDS: changed });
    await repeatJob(kubectl, 'migrate');

    await changeSecret(kubectl, SERVICE, { POSTGRES_URL: urlOf(ROLE, next) });
    await restart(kubectl, [`deployment/${SERVICE}`]);
  } finally {
    await asAdmin(`drop role if exists ${ROLE}_next`);
  }
  const seconds = secondsSince(startedAt);
  const result = await conclude();
  recordFigures('database password replaced', { seconds, ...load.counts(), ...result });
  expect(result).toEqual({ refused: [], wrong: [] });

  const outside = new URL(stack.postgres_urls.settlement);
  [outside.username, outside.password] = [old.username, old.password];
  await expect(inDatabase(outside.href, (client) => client.query('select'))).rejects.toThrow(/password/);
}, 900_000);

/** Has every server of the bus read its users again, once the kubelet has written them. */
const reloadUsers = async (text: string): Promise<void> => {
  const { kubectl } = installation;
  await changeConfigMap(kubectl, 'nats-users', { [USERS_FILE]: text });
  const pods = await kubectl.list('pods', '--selector', 'quittance.dev/server=nats');
  for (const { metadata } of pods) {
    const written = () => kubectl.exec(metadata.name, ['cat', `/etc/nats/${USERS_FILE}`]);
    await waitFor(written, (found) => found === text, 180_000, 1000);
    // A single server has no pid file. It is the first process of its container.
    await kubectl.exec(metadata.name, ['sh', '-c', 'kill -HUP 1']);
  }
};

test('a key of the bus', async () => {
  const { kubectl } = installation;
  load = await beginLoad(installation, { perSecond: 1 });
  const startedAt = performance.now();
  const old = await secretValue(kubectl, SERVICE, 'NATS_NKEY_SEED');
  const next = newNkeySeed();
  const { data } = await kubectl.json(['get', 'configmap', 'nats-users']);
  const users: string = data[USERS_FILE];
  const line = users.split('\n').find((each) => each.includes(nkeyOf(old)))!;

  await reloadUsers(users.replace(line, `${line}\n${line.replace(nkeyOf(old), nkeyOf(next))}`));
  await changeSecret(kubectl, SERVICE, { NATS_NKEY_SEED: next });
  await restart(kubectl, [`deployment/${SERVICE}`]);
  await reloadUsers(users.replace(nkeyOf(old), nkeyOf(next)));
  const seconds = secondsSince(startedAt);
  const result = await conclude();
  recordFigures('key of the bus replaced', { seconds, ...load.counts(), ...result });
  expect(result).toEqual({ refused: [], wrong: [] });

  const forward = await kubectl.forward('service/nats', 4222);
  try {
    const login = { servers: `127.0.0.1:${forward.port}`, reconnect: false };
    await expect(connect({ ...login, ...loginWith(old) })).rejects.toThrow(/authorization/i);
    await (await connect({ ...login, ...loginWith(next) })).close();
  } finally {
    await forward.stop();
  }
}, 900_000);

import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import pg from 'pg';
import type { z } from 'zod';
import { forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import type { EventName, EventPayload } from '../../shared/contract/events.ts';
import { webhook } from '../../shared/contract/index.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import { createTestBus, type TestBus } from './bus.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database-handle.ts';
import { publishEvent } from './publish.ts';
import { type ServiceProcess, startService } from './service-process.ts';
import { atOnce } from './stack.ts';

/**
 * Two replicas of the service over a real bus and database. The test publishes the events as their
 * owners do, so that it decides their order and repeats.
 */
type Operations = typeof webhook.operations;
type Any<N extends keyof Operations> = z.infer<Operations[N]['output']>;
/** The answer of a first call, with its secret. */
export type Out<N extends keyof Operations> = [Extract<Any<N>, { secret: string }>] extends [never]
  ? Any<N>
  : Extract<Any<N>, { secret: string }>;

const SERVICES = ['quote', 'settlement', 'funding', 'identity'] as const;
export let database: TestDatabase;
export let testBus: TestBus;
export let replicas: ServiceProcess[] = [];
export let admin: pg.Pool;
let gateway: Bus;
let publishers: Record<string, Bus> = {};

let settings: Record<string, string> = {};
const startReplicas = async (): Promise<void> => {
  replicas = await atOnce(2, () => startService('webhook', settings, { testBus, database }));
};

/** Stops the replicas, and starts them with changed settings. */
export const restart = async (changed: Record<string, string>): Promise<void> => {
  expect(await Promise.all(replicas.map((replica) => replica.stop()))).toEqual([0, 0]);
  settings = { ...settings, ...changed };
  await startReplicas();
};

export const startFixture = async (env: Record<string, string> = {}): Promise<void> => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  gateway = await testBus.as('gateway');
  publishers = Object.fromEntries(
    await Promise.all(SERVICES.map(async (name) => [name, await testBus.as(name)] as const)),
  );
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=webhook,public',
    max: 2,
  });
  const secret = () => randomBytes(32).toString('base64url');
  settings = {
    CURSOR_KEY: secret(),
    SECRETS_KEY: secret(),
    ALLOW_PRIVATE_TARGETS: 'true',
    DELIVERY_TIMEOUT_MS: '1000',
    ...env,
  };
  await startReplicas();
};

export const stopFixture = async (): Promise<void> => {
  expect(await Promise.all(replicas.map((replica) => replica.stop()))).toEqual([0, 0]);
  await admin.end();
  await Promise.all([database.drop(), testBus.stop()]);
};

/** A sign-in in the far future, so that no shift of the clock makes it too old. */
const FRESH = 4_102_444_800;
export const account = (account_id = newId('acct'), auth_time = FRESH) =>
  ({ kind: 'jwt', account_id, session_id: 's', auth_time }) as const;
export type Account = ReturnType<typeof account>;

export const ask = <N extends keyof Operations>(
  operation: N,
  who: Account,
  input: object = {},
  idempotencyKey?: string,
): Promise<Out<N>> =>
  forward(gateway, webhook, operation, input, who, {
    timeoutMs: 30_000,
    headers: {},
    idempotencyKey,
  }) as Promise<Out<N>>;
export const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  );

/** Publishes an event as its owner does, with a new message id. */
export const publishAs = <N extends EventName>(name: N, payload: EventPayload<N>): Promise<void> =>
  publishEvent(publishers[name.split('.')[0]!]!, name, payload);

export const HASH = '5'.repeat(80);
/** The fields of a payment in each event of settlement. */
export const payment = (payer: string, vendor: string) => ({
  settlement_id: newId('stl'),
  quote_id: newId('q'),
  account_id: payer,
  delegate_id: null,
  wallet_id: newId('wal'),
  rail: 'quittance' as const,
  payer_address: null,
  service_id: newServiceId(),
  vendor_account_id: vendor,
  quote_amount: '1000000',
  fee_amount: '10000',
});
/** An event that concerns one account only. */
export const delegateChanged = (account_id: string): EventPayload<'identity.delegateChanged'> => ({
  change_id: newId('evt'),
  account_id,
  at: new Date().toISOString(),
  change: 'updated',
  delegate_id: newId('del'),
  name: 'Robot',
  wallet_id: newId('wal'),
  expires_at: null,
});

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import pg from 'pg';
import type { z } from 'zod';
import { forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { publish } from '../../shared/bus/publish.ts';
import type { Moved } from '../../shared/contract/funding.ts';
import { type settlement, wallet } from '../../shared/contract/index.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import type { transactionOperations } from '../../shared/contract/wallet/transactions.ts';
import { event, type Message } from '../../shared/events/event.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import { createTestBus, type TestBus } from './bus.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database-handle.ts';
import { type ServiceProcess, startService } from './service-process.ts';
import { atOnce } from './stack.ts';

/**
 * Two replicas of the service over a real bus and database. The test publishes the events of
 * settlement and funding, so that it decides their order and repeats.
 */
export type Issued = z.infer<typeof settlement.events.issued>;
export type List = z.infer<typeof transactionOperations.listTransactions.output>;
type Summary = z.infer<typeof transactionOperations.spendingSummary.output>;

export let database: TestDatabase;
let testBus: TestBus;
let replicas: ServiceProcess[] = [];
let [gateway, settlementBus, fundingBus]: Bus[] = [];
export let admin: pg.Pool;

export const startFixture = async (): Promise<void> => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  [gateway, settlementBus, fundingBus] = await Promise.all(
    (['gateway', 'settlement', 'funding'] as const).map((user) => testBus.as(user)),
  );
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=wallet,public',
    max: 2,
  });
  const env = { CURSOR_KEY: randomBytes(32).toString('base64url') };
  replicas = await atOnce(2, () => startService('wallet', env, { testBus, database }));
};

export const stopFixture = async (): Promise<void> => {
  expect(await Promise.all(replicas.map((replica) => replica.stop()))).toEqual([0, 0]);
  await admin.end();
  await Promise.all([database.drop(), testBus.stop()]);
};

const HASHES = ['5', '6', '7'].map((digit) => digit.repeat(80));
export const [HASH, NEXT_HASH] = HASHES as [string, string];
export const VENDOR = newId('acct');
export const SERVICE = newServiceId();

export const account = (account_id = newId('acct')) =>
  ({ kind: 'jwt', account_id, session_id: 's', auth_time: 0 }) satisfies Principal;
export const delegate = (account_id: string, delegate_id = newId('del')) =>
  ({
    kind: 'delegate_key',
    account_id,
    delegate_id,
    wallet_id: newId('wal'),
    key_id: 'k',
  }) satisfies Principal;

export const ask = <T>(operation: string, who: Principal, input: object = {}): Promise<T> =>
  forward(gateway!, wallet, operation, input, who, { timeoutMs: 5000, headers: {} }) as Promise<T>;
export const list = (who: Principal, input: object = {}) => ask<List>('listTransactions', who, input);
export const summary = (who: Principal, input: object = {}) => ask<Summary>('spendingSummary', who, input);
export const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    ({ code, message }: { code: string; message: string }) => `${code} ${message.split(':')[0]}`,
  );

/** Publishes with a new message id, so that the stream does not drop a repeat. */
export const publishOne = ({ subject, payload }: Pick<Message, 'subject' | 'payload'>): Promise<void> =>
  publish(subject.startsWith('evt.settlement') ? settlementBus! : fundingBus!, {
    subject,
    msgId: randomUUID(),
    payload,
  });
export const publishAll = (messages: readonly Message[]) => Promise.all(messages.map(publishOne));

export const issue = (payer: Principal & { account_id: string }, rest: Partial<Issued> = {}): Issued => ({
  settlement_id: newId('stl'),
  quote_id: newId('q'),
  scope: null,
  tx_hash: HASH,
  account_id: payer.account_id,
  delegate_id: 'delegate_id' in payer ? (payer.delegate_id as string) : null,
  wallet_id: newId('wal'),
  rail: 'quittance',
  payer_address: null,
  service_id: SERVICE,
  vendor_account_id: VENDOR,
  quote_amount: '1000000',
  fee_amount: '10000',
  issued_at: new Date().toISOString(),
  ...rest,
});
export const issuedEvent = (payload: Issued): Message => event('settlement.issued', payload);
export const finalizedEvent = ({ issued_at: _, ...about }: Issued, tx_hash = HASH): Message =>
  event('settlement.finalized', { ...about, tx_hash });
export const reversedEvent = ({ issued_at: _, tx_hash: __, ...about }: Issued): Message =>
  event('settlement.reversed', { ...about, redeemed: true });
export const movedEvent = (rest: Partial<Moved> & Pick<Moved, 'type'>): Message =>
  event('funding.moved', {
    object_id: newId('fund'),
    status: 'confirmed',
    tx_hash: HASH,
    amount: '7',
    from_account_id: null,
    to_account_id: null,
    service_id: null,
    delegate_id: null,
    created_at: new Date().toISOString(),
    ...rest,
  });

/** Reads until the value is as expected. A failure shows the last value. */
export const expectSoon = async <T>(read: () => Promise<T>, expected: unknown): Promise<void> => {
  for (const deadline = performance.now() + 60_000; ; await sleep(50)) {
    const isLast = performance.now() > deadline;
    try {
      expect(await read()).toEqual(expected);
      return;
    } catch (error) {
      if (isLast) throw error;
    }
  }
};
export const briefly = ({ data }: List) =>
  data.map(({ type, direction, amount, fee_amount, status }) =>
    [type, direction, amount, fee_amount, status].join(' '),
  );

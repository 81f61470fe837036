import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/index.ts';
import {
  callsOf,
  confirm,
  type Key,
  newKey,
  pendingRow,
  sent,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import {
  admin,
  database,
  deps,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { newTransaction, SOURCE } from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { onSettleProgressed } from '../settlements/on-chain-submitter-settle-progressed.ts';
import { resumeIncoming } from './resume-incoming.ts';

let key: Key;
beforeAll(async () => {
  await startFixture();
  key = newKey();
});
afterAll(stopFixture);
afterEach(() => admin.query('delete from restores'));
const { settle } = callsOf(() => key);

/** What a sweep of a payment without progress asks chain-submitter about it. */
const askedAbout = async (settlementId: string) => {
  const asked: z.infer<typeof chainSubmitter.internal.closeIncoming.input>[] = [];
  const sweep = resumeIncoming({
    ...deps,
    applyProgress: async () => {},
    closeIncoming: async (payment) => {
      asked.push(payment);
      throw new Error('no answer');
    },
  });
  await database.withClock('3 minutes', sweep);
  return asked.find(({ settlement_id }) => settlement_id === settlementId);
};

test.each([
  ['after a restore a payment without progress is closed only without a transaction of the lost time', true],
  ['without a restore the chain is not asked about it', false],
])('%s', async (_name, isRestored) => {
  const transaction = newTransaction();
  const answer = settle(transaction);
  const { settlement_id, message_hash } = await pendingRow(transaction);
  if (isRestored) await admin.query(`insert into restores (taken_at) values (app_now() - interval '1 hour')`);
  const lost = { since: expect.any(String), source_account: SOURCE, account_id: key.account_id };
  expect(await askedAbout(settlement_id)).toEqual({
    ...{ settlement_id, message_hash },
    lost: isRestored ? lost : null,
  });
  await confirm(transaction);
  await sent(await answer);
});

test('a payment whose bytes a restore of chain-submitter has lost ends, although settlement knew of them', async () => {
  const transaction = newTransaction();
  const answer = settle(transaction);
  const { settlement_id } = await pendingRow(transaction);
  await admin.query('update settlements set generation = 1 where settlement_id = $1', [settlement_id]);
  const failure = { code: 'payment_failed', message: 'the payment was ended before it was signed' } as const;
  const nothing = { generation: 0, tx_hash: null, slot: null };
  const sweep = resumeIncoming({
    ...deps,
    applyProgress: onSettleProgressed(deps),
    closeIncoming: async () => ({ object_id: settlement_id, status: 'failed', ...nothing, failure }),
  });
  await database.withClock('3 minutes', sweep);
  const { rows } = await admin.query('select status from settlements where settlement_id = $1', [
    settlement_id,
  ]);
  expect(rows).toEqual([{ status: 'failed' }]);
  expect(await answer).toMatchObject({ success: false });
});

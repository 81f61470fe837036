import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import {
  ANY_PAYEE,
  payOut,
  refusal,
  USDC,
} from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  callAs,
  database,
  delegateOf,
  deps,
  HASH,
  held,
  outcome,
  row,
  spendingOf,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  closeOutgoing,
  newPayee,
  signer,
} from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { expireSettlements } from '../delivering/expire-settlements.ts';
import { resumeIncoming } from '../incoming/resume-incoming.ts';
import { onSettleProgressed } from '../settlements/on-chain-submitter-settle-progressed.ts';
import { resumeSettlements } from '../settling/resume-settlements.ts';
import { resumeOutgoing } from './resume-outgoing.ts';

beforeAll(startFixture);
afterAll(stopFixture);
beforeEach(() => {
  signer.answers = true;
});

const asked: string[] = [];
const sweep = async () => {
  asked.length = 0;
  await resumeOutgoing({
    ...deps,
    applyProgress: onSettleProgressed(deps),
    closeOutgoing: async (payment) => {
      asked.push(payment.settlement_id);
      return closeOutgoing(payment);
    },
  })();
  return [...asked];
};
const later = async (time: string, work: () => Promise<unknown>) => {
  await database.shiftClock(time);
  try {
    await work();
  } finally {
    await database.shiftClock('0');
  }
};

test('a payment that was never signed ends after its call, and releases its hold', async () => {
  const payer = consumer();
  const delegate = await delegateOf(payer, { daily: USDC }, null, ANY_PAYEE);
  const call = { attempt: newId('evt'), payTo: newPayee('never signed') };
  signer.answers = false;
  const { settlement_id } = (await refusal(payOut(delegate, call))) as { settlement_id: string };
  signer.answers = true;
  await later('40 seconds', async () => expect(await sweep()).toEqual([]));
  expect(await held(payer)).toBe(USDC);
  await later('50 seconds', async () => expect(await sweep()).toEqual([settlement_id]));
  expect(await row(settlement_id)).toMatchObject({ status: 'failed', chain_status: 'failed' });
  expect(await held(payer)).toBe(0n);
  expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '0', spent: '0' });
  expect(await outcome(payOut(delegate, call))).toBe('payment_failed');
  await later('10 minutes', async () => expect(await sweep()).toEqual([]));
});

test('a payment whose bytes were handed out holds its amount until chain-submitter reports its end', async () => {
  const payer = consumer();
  const { settlement_id } = await payOut(payer);
  await later('10 seconds', async () => expect(await sweep()).toEqual([]));
  // The other sweepers leave it alone, also after any redeem window.
  await later('1 hour', async () => {
    const closeIncoming = async () => {
      throw new Error('The payment is no incoming one.');
    };
    await resumeIncoming({ ...deps, applyProgress: onSettleProgressed(deps), closeIncoming })();
    await resumeSettlements(deps)();
    await expireSettlements(deps)();
    expect(await row(settlement_id)).toMatchObject({ status: 'pending', dispatch_count: 1 });
    expect(await sweep()).toEqual([settlement_id]);
  });
  expect(await held(payer)).toBe(USDC);
  signer.progress.set(settlement_id, { status: 'confirmed', tx_hash: HASH[0], slot: 101 });
  await later('2 hours', async () => expect(await sweep()).toEqual([settlement_id]));
  expect(await row(settlement_id)).toMatchObject({ status: 'issued', chain_status: 'confirmed' });
  expect(await held(payer)).toBe(0n);
  await later('2 hours', async () => {
    await expireSettlements(deps)();
    expect(await row(settlement_id)).toMatchObject({ status: 'issued' });
  });
  signer.progress.set(settlement_id, { status: 'finalized', tx_hash: HASH[0], slot: 101 });
  await later('3 hours', async () => expect(await sweep()).toEqual([settlement_id]));
  await later('4 hours', async () => expect(await sweep()).toEqual([]));
});

test('while chain-submitter does not answer, a payment without progress stays as it is', async () => {
  const payer = consumer();
  const { settlement_id } = await payOut(payer);
  await later('1 minute', () =>
    resumeOutgoing({
      ...deps,
      applyProgress: onSettleProgressed(deps),
      closeOutgoing: async () => {
        throw new Error('no answer');
      },
    })(),
  );
  expect(await row(settlement_id)).toMatchObject({ status: 'pending', dispatch_count: 2 });
  expect(await held(payer)).toBe(USDC);
});

const report = (payer: ReturnType<typeof consumer>, settlement_id: string, response: object = {}) =>
  callAs<{ settlement_id: string; status: string; tx_hash: string | null }>(payer, 'reportExternal', {
    settlement_id,
    payment_response: Buffer.from(JSON.stringify(response)).toString('base64'),
  });

test('a report of the vendor’s answer finds the payment at once; a failure that it reports releases nothing', async () => {
  const payer = consumer();
  const { settlement_id } = await payOut(payer);
  signer.progress.set(settlement_id, { status: 'confirmed', tx_hash: HASH[0], slot: 101 });
  const confirmed = { settlement_id, status: 'confirmed', tx_hash: HASH[0] };
  expect(await report(payer, settlement_id, { success: true, transaction: HASH[0] })).toEqual(confirmed);
  expect(signer.reported.at(-1)).toBe(HASH[0]);
  const asked = signer.reported.length;
  expect(await report(payer, settlement_id)).toEqual(confirmed);
  expect(signer.reported).toHaveLength(asked);

  const second = await payOut(payer);
  const pending = { settlement_id: second.settlement_id, status: 'pending', tx_hash: null };
  expect(await report(payer, second.settlement_id, { success: false, transaction: '' })).toEqual(pending);
  expect(signer.reported.at(-1)).toBeNull();
  expect(await held(payer)).toBe(USDC);
  signer.answers = false;
  expect(await report(payer, second.settlement_id)).toEqual(pending);
  expect(await outcome(report(consumer(), settlement_id))).toBe('not_found');
});

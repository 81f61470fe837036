import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  ANY_PAYEE,
  type PaidOut,
  payOut,
  RESOURCE,
  refusal,
  USDC,
} from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  callAs,
  delegateOf,
  deps,
  held,
  publishProgress,
  spendingOf,
  startFixture,
  stopFixture,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { FEE_PAYER } from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { newPayee, signer } from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { MINT } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { recordApproval } from '../approvals/record-approval.ts';

beforeAll(startFixture);
afterAll(stopFixture);

type Charge = { payTo: string; amount?: bigint; splits?: object[]; expires?: string };
/** The parameters of a challenge, as a vendor's 402 has them. */
const challengeOf = ({ payTo, amount = USDC, splits, expires }: Charge) => {
  const request = {
    ...{ amount: `${amount}`, currency: MINT, recipient: payTo, externalId: 'order 7' },
    methodDetails: { network: 'devnet', feePayer: true, feePayerKey: FEE_PAYER, ...(splits && { splits }) },
  };
  return {
    ...{ id: 'c1', realm: 'api.example.com', method: 'solana', intent: 'charge' },
    request: Buffer.from(JSON.stringify(request)).toString('base64url'),
    ...(expires !== undefined && { expires }),
  };
};
const charge = (payer: Principal, of: Charge, attempt = newId('evt')) =>
  callAs<PaidOut>(payer, 'payExternal', {
    ...{ payment_attempt_id: attempt, resource: RESOURCE, challenge: challengeOf(of) },
  });
const splitTo = (recipient: string, amount: string) => ({ recipient, amount, memo: 'fee' });

test('a charge is signed with its splits, held as a whole, and spent when it is seen', async () => {
  const payer = consumer();
  const [payTo, other] = [newPayee('charged'), newPayee('split')];
  const delegate = await delegateOf(payer, { daily: 5n * USDC }, null, {
    external: { pay_to: [payTo, other], origins: null },
  });
  const of = { payTo, splits: [splitTo(other, '300')] };
  const first = await charge(delegate, of, 'charge');
  expect(JSON.parse(Buffer.from(first.payment_signature.slice(8), 'base64url').toString())).toEqual({
    challenge: challengeOf(of),
    payload: { type: 'transaction', transaction: first.transaction },
  });
  expect(first.payment_signature).toMatch(/^Payment /);
  expect([...signer.signed.values()].at(-1)).toMatchObject({
    ...{ pay_to: payTo, amount: `${USDC}`, memo: 'order 7', fee_payer: FEE_PAYER },
    splits: [{ pay_to: other, amount: '300', memo: 'fee' }],
  });
  expect(await charge(delegate, of, 'charge')).toEqual(first);
  expect(await held(payer)).toBe(USDC);
  await publishProgress(first.settlement_id, 'confirmed');
  await untilChainStatus(first.settlement_id, 'confirmed');
  expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '0', spent: `${USDC}` });
  expect(await callAs(delegate, 'get', { settlement_id: first.settlement_id })).toMatchObject({
    rail: 'mpp_out',
    payees: [
      { address: payTo, amount: `${USDC - 300n}` },
      { address: other, amount: '300' },
    ],
  });
});

test('another challenge with the same attempt, and another protocol, are refused', async () => {
  const payer = consumer();
  const payTo = newPayee('same attempt');
  await charge(payer, { payTo }, 'attempt');
  const again = [
    () => charge(payer, { payTo, amount: USDC + 1n }, 'attempt'),
    () => payOut(payer, { payTo, attempt: 'attempt' }),
  ];
  for (const call of again)
    expect(await refusal(call())).toMatchObject({ code: 'conflict', safe_action: 'read_settlement' });
  expect(await held(payer)).toBe(USDC);
});

test('every payee must be allowed, and none may be the wallet that pays', async () => {
  const payer = consumer();
  const [payTo, other] = [newPayee('allowed'), newPayee('not allowed')];
  const delegate = await delegateOf(payer, { daily: 5n * USDC }, null, {
    external: { pay_to: [payTo], origins: null },
  });
  const splits = [splitTo(other, `${USDC - 1n}`)];
  expect(await refusal(charge(delegate, { payTo, splits }))).toMatchObject({
    ...{ code: 'forbidden', money_moved: 'no' },
    message: expect.stringContaining('external.pay_to'),
  });
  expect(await held(payer)).toBe(0n);
});

test('a challenge that has ended is refused, but a repeat of its payment is answered', async () => {
  const payer = consumer();
  const of = { payTo: newPayee('ended'), expires: new Date(Date.now() - 1000).toISOString() };
  expect(await refusal(charge(payer, of))).toMatchObject({ code: 'validation_error', money_moved: 'no' });
});

test('48 payments of both protocols at once, with a limit for five: none beyond it', async () => {
  const payer = consumer();
  const delegate = await delegateOf(payer, { daily: 5n * USDC - 1n }, null, ANY_PAYEE);
  /** Repeats the same attempt while it is undecided. */
  const payToTheEnd = async (index: number): Promise<string> => {
    const [payTo, attempt] = [newPayee(`race ${index}`), newId('evt')];
    for (;;) {
      const call =
        index % 2 === 0 ? charge(delegate, { payTo }, attempt) : payOut(delegate, { payTo, attempt });
      const outcome = await call.then(
        () => 'signed',
        ({ code }: { code: string }) => code,
      );
      if (outcome !== 'service_unavailable') return outcome;
    }
  };
  expect(tally(await atOnce(48, payToTheEnd))).toEqual({ signed: 4, limit_exceeded: 44 });
  expect(await held(payer)).toBe(4n * USDC);
  expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: `${4n * USDC}`, spent: '0' });
});

/** A delegate of a new account that may pay anybody, and asks its owner above one USDC. */
const askingDelegate = () =>
  delegateOf(consumer(), { daily: 500n * USDC }, null, { ...ANY_PAYEE, approval_above: `${USDC}` });
const approve = ({ account_id }: { account_id: string }, approval_id: string) =>
  recordApproval(deps)({ account_id, approval_id, passkey_id: 'pk_1' } as never);

test('what the owner has approved for one payee is not paid to another one by a split', async () => {
  const delegate = await askingDelegate();
  const [wellKnown, thief] = [newPayee('well known'), newPayee('thief')];
  const amount = 100n * USDC;
  const asked = await refusal(charge(delegate, { payTo: wellKnown, amount }, 'big'));
  await approve(delegate, String(asked.approval_id));
  const before = signer.signed.size;
  const splits = [splitTo(thief, `${amount - 1n}`)];
  expect(await refusal(charge(delegate, { payTo: wellKnown, amount, splits }, 'big'))).toMatchObject({
    ...{ code: 'conflict', money_moved: 'no', safe_action: 'stop' },
  });
  expect(signer.signed.size).toBe(before);
});

test('the owner is shown every payee with its part, and only this split is paid', async () => {
  const delegate = await askingDelegate();
  const [payTo, other] = [newPayee('shown'), newPayee('shown split')];
  const of = { payTo, amount: 100n * USDC, splits: [splitTo(other, `${99n * USDC}`)] };
  const asked = await refusal(charge(delegate, of, 'shown'));
  const approval_id = String(asked.approval_id);
  expect(await callAs(delegate, 'getApproval', { approval_id })).toMatchObject({
    amount: `${100n * USDC}`,
    payees: [
      { address: payTo, amount: `${USDC}` },
      { address: other, amount: `${99n * USDC}` },
    ],
  });
  await approve(delegate, approval_id);
  const others = [
    { ...of, splits: [splitTo(other, `${98n * USDC}`)] },
    { ...of, splits: [splitTo(newPayee('third'), `${99n * USDC}`)] },
    { ...of, splits: [] },
    { ...of, payTo: other, splits: [splitTo(payTo, `${USDC}`)] },
  ];
  for (const each of others)
    expect(await refusal(charge(delegate, each, 'shown'))).toMatchObject({ code: 'conflict' });
  expect((await charge(delegate, of, 'shown')).status).toBe('pending');
});

test('payments that pay an address by a split count for it', async () => {
  const payer = consumer();
  const shared = newPayee('shared');
  const toShared = (name: string) => ({ payTo: newPayee(name), splits: [splitTo(shared, '1')] });
  await charge(payer, toShared('first recipient'));
  await charge(payer, toShared('second recipient'));
  const again = [
    toShared('third recipient'),
    { payTo: shared },
    { payTo: newPayee('fourth'), splits: [splitTo(shared, '1')] },
  ];
  for (const each of again)
    expect(await refusal(charge(payer, each))).toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('payments of this account to this address are open'),
    });
  await charge(payer, { payTo: newPayee('first recipient') });
});

test('an address that did not use three payments is paused, also as the payee of a split', async () => {
  const payer = consumer();
  const unused = newPayee('unused');
  for (const name of ['one', 'two', 'three']) {
    const of = { payTo: newPayee(`unused ${name}`), splits: [splitTo(unused, '1')] };
    const { settlement_id } = await charge(payer, of);
    await publishProgress(settlement_id, 'failed');
    await untilChainStatus(settlement_id, 'failed');
  }
  for (const each of [{ payTo: unused }, { payTo: newPayee('another'), splits: [splitTo(unused, '1')] }])
    expect(await refusal(charge(payer, each))).toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('has not used the last payments'),
    });
  // Of the recipients each has let one payment expire.
  await charge(payer, { payTo: newPayee('unused one') });
});

test('an address that a challenge names twice is one payee', async () => {
  const payer = consumer();
  const [payTo, other] = [newPayee('twice'), newPayee('twice split')];
  const splits = [splitTo(other, '10'), splitTo(payTo, '20'), splitTo(other, '30')];
  const { settlement_id } = await charge(payer, { payTo, splits });
  expect(await callAs(payer, 'get', { settlement_id })).toMatchObject({
    payees: [
      { address: payTo, amount: `${USDC - 40n}` },
      { address: other, amount: '40' },
    ],
  });
});

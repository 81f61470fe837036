import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  callAs,
  delegateOf,
  HASH,
  held,
  outcome,
  pay,
  publishProgress,
  quote,
  row,
  spendingOf,
  startFixture,
  stopFixture,
  until,
  untilChainStatus,
} from '../../../test/support/settlement.ts';
import { newPayee, requirementOf, signer } from '../../../test/support/settlement-external.ts';
import { consumer, snapshots } from '../../../test/support/settlement-peers.ts';

beforeAll(startFixture);
afterAll(stopFixture);
beforeEach(() => {
  signer.answers = true;
});

const USDC = 1_000_000n;
const RESOURCE = 'https://api.example.com/report?day=1';
const ANY = { external: { pay_to: 'any' as const, origins: null } };

type Paid = {
  settlement_id: string;
  status: string;
  payment_signature: string;
  transaction: string;
  tx_hash: string | null;
};
type Options = {
  attempt?: string;
  payTo?: string;
  amount?: bigint;
  resource?: string;
  version?: 1 | 2;
  requirement?: object;
};
const payOut = (
  payer: Principal,
  { attempt = newId('evt'), payTo = newPayee(newId('evt')), amount, resource, version, requirement }: Options = {},
) =>
  callAs<Paid>(payer, 'payExternal', {
    payment_attempt_id: attempt,
    resource: resource ?? RESOURCE,
    ...(version !== undefined && { x402_version: version }),
    requirement: requirement ?? requirementOf(payTo, amount),
  });
const payloadOf = ({ payment_signature }: Paid) =>
  JSON.parse(Buffer.from(payment_signature, 'base64').toString());

/** The error of a refused call as the caller gets it. */
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('The call was not refused.');
    },
    (error: { code: string; extras: object; message: string }) => ({
      code: error.code,
      message: error.message,
      ...error.extras,
    }),
  );

describe('a payment', () => {
  test('is signed, held, and spent when it is seen; a repeat returns the same bytes in every state', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: 5n * USDC }, null, ANY);
    const call = { attempt: 'first', payTo: newPayee('first') };
    const first = await payOut(delegate, call);
    expect(first).toMatchObject({ status: 'pending', tx_hash: null });
    expect(payloadOf(first)).toEqual({
      x402Version: 2,
      resource: { url: RESOURCE },
      accepted: requirementOf(call.payTo),
      payload: { transaction: first.transaction },
    });
    expect(await payOut(delegate, call)).toEqual(first);
    expect(await payOut(payer, call)).toEqual(first);
    expect(await held(payer)).toBe(USDC);
    expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '1000000', spent: '0' });

    await publishProgress(first.settlement_id, 'confirmed');
    await untilChainStatus(first.settlement_id, 'confirmed');
    expect(await held(payer)).toBe(0n);
    expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '0', spent: '1000000' });
    expect(await payOut(delegate, call)).toEqual({ ...first, status: 'confirmed', tx_hash: HASH[0] });
    expect(await row(first.settlement_id)).toMatchObject({ status: 'issued', tx_hash: HASH[0] });
  });
});

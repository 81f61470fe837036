import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import {
  type Quote,
  RETIRED_KID,
  STOLEN_KID,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { captureTerms } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

/** A quote whose ceiling is 500,000 micro-units. */
const ceiling = (expiresInMs?: number) =>
  fixture.quote({
    amount: 500_000n,
    capture: captureTerms(),
    ...(expiresInMs !== undefined && { expiresInMs }),
  });

test('rule 21: a capture pays the named part with the fee of the signed rule, once per attempt', async () => {
  const { outside, events, keys } = fixture;
  const payer = await fixture.payer(10_000_000n);
  const feeBefore = await outside.balance(keys.feeWallet.address);
  const q = ceiling();
  const job = await fixture.settle(payer, q, { capture_amount: '120000' });
  await events.wait(job.settlement_id, 'confirmed');
  const balances = async () => [
    await outside.balance(q.payout),
    (await outside.balance(keys.feeWallet.address)) - feeBefore,
    await outside.balance(payer.owner.publicKey),
  ];
  expect(await balances()).toEqual([110_000n, 10_000n, 9_880_000n]);
  const { payment_attempt_id, settlement_id } = job;
  await fixture.settle(payer, q, { payment_attempt_id, settlement_id, capture_amount: '500000' });
  await events.wait(job.settlement_id, 'finalized');
  expect(await balances()).toEqual([110_000n, 10_000n, 9_880_000n]);
});

test('rule 21: a capture is signed after the expiry of its quote, within its window', async () => {
  const payer = await fixture.payer(10_000_000n);
  const job = await fixture.settle(payer, ceiling(-600_000), { capture_amount: '500000' });
  await fixture.events.wait(job.settlement_id, 'confirmed');
});

test.each<[string, string | undefined, string]>([
  ['beyond the ceiling', '500001', 'the payment was not signed in time; no money moved'],
  ['of its fee', '10000', 'the fee leaves the vendor nothing'],
  ['without an amount', undefined, 'the quote is a ceiling, and no capture is named'],
])('rule 7: the signer refuses a capture %s', async (_name, amount, message) => {
  const payer = await fixture.payer(10_000_000n);
  const job = await fixture.settle(payer, ceiling(), {
    ...(amount !== undefined && { capture_amount: amount }),
  });
  const failed = await fixture.events.wait(job.settlement_id, 'failed');
  expect(failed.failure).toEqual({ code: 'payment_failed', message });
});

test('rule 7: the signer pays no part of a quote that has no ceiling', async () => {
  const payer = await fixture.payer(10_000_000n);
  const job = await fixture.settle(payer, fixture.quote(), {
    settlement_id: newId('stl'),
    capture_amount: '400000',
  });
  const failed = await fixture.events.wait(job.settlement_id, 'failed');
  expect(failed.failure?.message).toBe('the quote has no ceiling, so no part of it is paid');
});

describe('rule 26: a ceiling with extensions', () => {
  const terms = { capture: captureTerms(), vendor: newId('acct'), service: newServiceId() };
  /** A quote of 500,000 micro-units, and what makes extensions of it. */
  const extendable = () => {
    const { vendor, service } = terms;
    const payout = Keypair.generate().publicKey;
    const q = fixture.quote({ ...terms, payout, amount: 500_000n });
    const extension = (more: object = {}) =>
      fixture.quote({ ...terms, vendor, service, payout, amount: 300_000n, extended: q.quote_id, ...more })
        .quote_token;
    return { q, extension };
  };
  const captured = async (q: Quote, capture_amount: string, extension_tokens: string[]) => {
    const payer = await fixture.payer(10_000_000n);
    return fixture.settle(payer, q, { capture_amount, extension_tokens });
  };

  test('is paid up to the sum of what was signed', async () => {
    const { q, extension } = extendable();
    const job = await captured(q, '1100000', [extension(), extension()]);
    await fixture.events.wait(job.settlement_id, 'confirmed');
    expect(await fixture.outside.balance(q.payout)).toBe(1_090_000n);
  });

  test.each<[string, (of: ReturnType<typeof extendable>) => string[], string]>([
    [
      'one is named twice',
      ({ extension }) => Array.from({ length: 2 }).fill(extension()) as string[],
      'not signed in time',
    ],
    ['one is missing', ({ extension }) => [extension()], 'not signed in time'],
    [
      'one is of another authorization',
      ({ extension }) => [extension(), extension({ extended: newId('q') })],
      'of another authorization',
    ],
    [
      'one pays another address',
      ({ extension }) => [extension(), extension({ payout: Keypair.generate().publicKey })],
      'other terms',
    ],
    [
      'one has another fee',
      ({ extension }) => [extension(), extension({ capture: captureTerms({ fee: { bps: 0, min: '0' } }) })],
      'other terms',
    ],
    [
      'one is of another service',
      ({ extension }) => [extension(), extension({ service: newServiceId() })],
      'other terms',
    ],
    [
      'one is signed by nobody',
      ({ extension }) => [extension(), extension().replace(/\..{9}/, '.AAAAAAAAA')],
      'the quote token is invalid',
    ],
    [
      'one is signed by a stolen key',
      ({ extension }) => [extension(), extension({ kid: STOLEN_KID })],
      'not signed in time',
    ],
    [
      'one is signed by a key that was retired before',
      ({ extension }) => [extension(), extension({ kid: RETIRED_KID })],
      'not signed in time',
    ],
  ])('is not paid beyond that: %s', async (_name, tokensOf, message) => {
    const one = extendable();
    const job = await captured(one.q, '1100000', tokensOf(one));
    const failed = await fixture.events.wait(job.settlement_id, 'failed');
    expect(failed.failure?.message).toContain(message);
    expect(await fixture.outside.balance(one.q.payout)).toBe(0n);
  });

  test('an extension alone pays nothing', async () => {
    const { extension } = extendable();
    const payer = await fixture.payer(10_000_000n);
    const job = await fixture.settle(
      payer,
      { ...extendable().q, quote_token: extension() },
      {
        capture_amount: '100000',
      },
    );
    const failed = await fixture.events.wait(job.settlement_id, 'failed');
    expect(failed.failure?.message).toContain('an extension pays nothing itself');
  });
});

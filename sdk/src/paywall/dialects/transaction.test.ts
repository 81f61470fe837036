import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { AddressLookupTableAccount, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  type Asked,
  askedBy,
  memoOf,
  paymentOn,
  type Rail,
  wireTransaction,
} from '../../../../test/support/actors/incoming-buyers.ts';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  at,
  readAnswer,
  reasonOf,
  sellBy,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { mpp } from './mpp.ts';
import { x402 } from './x402.ts';

const SECRET = 'a secret of the vendor, 32 or more';
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());
const sell = () => sellBy(api, undefined, { dialects: [x402({ secret: SECRET }), mpp({ secret: SECRET })] });
const paidCalls = () => api.asked.filter(({ call }) => call === 'POST /v1/settlements/foreign');

const PAYER = Keypair.generate();
const OTHER = Keypair.generate().publicKey.toBase58();
const randomWire = (message: Buffer) =>
  Buffer.concat([Buffer.from([2]), randomBytes(128), message]).toString('base64');
const changed = (transaction: string, change: (wire: Buffer) => Buffer) =>
  change(Buffer.from(transaction, 'base64')).toString('base64');
const cut = (transaction: string) => changed(transaction, (wire) => wire.subarray(0, -1));
const longer = (transaction: string) =>
  changed(transaction, (wire) => Buffer.concat([wire, Buffer.alloc(1)]));
/** The payer's signature, in the second slot, is of another message. */
const unsigned = (transaction: string) => changed(transaction, (wire) => wire.fill(randomBytes(64), 65, 129));
describe.each<Rail>(['x402', 'mpp'])('a payment of %s', (rail) => {
  test.each([undefined, 7, '', '!!!', 'AA==', 'A'.repeat(1648)])(
    'whose transaction is %p gets a 402, and no call is made',
    async (transaction) => {
      const { serve } = sell();
      const { headers } = await serve(at('/report'));
      const payment = paymentOn[rail](
        headers,
        transaction === undefined ? (null as never) : (transaction as string),
      );
      expect(await reasonOf(serve(at('/report', payment)))).toBe('402 payment_failed invalid_payload');
      expect(paidCalls()).toEqual([]);
    },
  );

  const wrong: [string, (asked: Asked) => string, string][] = [
    ['is random', () => randomWire(randomBytes(200)), 'invalid_payload'],
    ['ends early', (asked) => cut(wireTransaction(asked)), 'invalid_payload'],
    ['is longer than its message', (asked) => longer(wireTransaction(asked)), 'invalid_payload'],
    [
      'has another fee payer',
      (asked) => wireTransaction({ ...asked, feePayer: OTHER }),
      'fee_payer_not_managed_by_facilitator',
    ],
    [
      'has one signer',
      (asked) => wireTransaction({ ...asked, feePayer: PAYER.publicKey.toBase58() }, { payer: PAYER }),
      'excessive_signers',
    ],
    ['has another mint', (asked) => wireTransaction({ ...asked, mint: OTHER }), 'mint_mismatch'],
    [
      'pays somebody else',
      ({ legs, ...asked }) =>
        wireTransaction({ ...asked, legs: legs.map((leg) => ({ ...leg, owner: OTHER })) }),
      'recipient_mismatch',
    ],
    [
      'pays less',
      ({ legs, ...asked }) =>
        wireTransaction({ ...asked, legs: legs.map((leg) => ({ ...leg, amount: '1' })) }),
      'amount_mismatch',
    ],
    [
      'pays twice',
      ({ legs, ...asked }) => wireTransaction({ ...asked, legs: [...legs, ...legs] }),
      'no_transfer_instruction',
    ],
    ['answers another offer', (asked) => wireTransaction({ ...asked, memo: 'another' }), 'memo_mismatch'],
    ['has no memo', (asked) => wireTransaction({ ...asked, memo: null }), 'memo_count'],
    ['is not signed', (asked) => unsigned(wireTransaction(asked)), 'signature_invalid'],
  ];
  test.each(wrong)('whose transaction %s is refused without a call', async (_, transactionOf, reason) => {
    const { serve } = sell();
    const { headers } = await serve(at('/report'));
    const payment = paymentOn[rail](headers, transactionOf(askedBy[rail](headers)));
    expect(await reasonOf(serve(at('/report', payment)))).toBe(`402 payment_failed ${reason}`);
    expect(paidCalls()).toEqual([]);
  });

  test('is sold after 301 transactions that pay nothing, with valid offers', async () => {
    api.faults.push(({ call }) =>
      call === 'POST /v1/settlements/foreign' && paidCalls().length > 300
        ? refusal(429, 'rate_limited')
        : null,
    );
    const { serve, deliveries } = sell();
    const { headers } = await serve(at('/report'));
    for (let junk = 0; junk < 301; junk += 1) {
      const transaction = (wrong[junk]?.[1] ?? (() => randomWire(randomBytes(200))))(askedBy[rail](headers));
      expect((await serve(at('/report', paymentOn[rail](headers, transaction)))).status).toBe(402);
    }
    expect((await serve(at('/report', paymentOn[rail](headers)))).status).toBe(200);
    expect([paidCalls().length, deliveries.length]).toEqual([1, 1]);
  });

  test('in a legacy message is accepted', async () => {
    const { serve } = sell();
    const { headers } = await serve(at('/report'));
    const transaction = wireTransaction(askedBy[rail](headers), { version: 'legacy' });
    expect((await serve(at('/report', paymentOn[rail](headers, transaction)))).status).toBe(200);
  });

  test('whose mint and payees are in a lookup table is left to the API, but not its amount', async () => {
    const { serve } = sell();
    const { headers } = await serve(at('/report'));
    const asked = askedBy[rail](headers);
    const payees = asked.legs.map(({ owner }) =>
      getAssociatedTokenAddressSync(new PublicKey(asked.mint), new PublicKey(owner), true),
    );
    const state = {
      ...{ deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 },
      addresses: [new PublicKey(asked.mint), ...payees],
    };
    const tables = [new AddressLookupTableAccount({ key: PAYER.publicKey, state })];
    const less = { ...asked, legs: asked.legs.map((leg) => ({ ...leg, amount: '1' })) };
    const cheap = paymentOn[rail](headers, wireTransaction(less, { tables }));
    expect(await reasonOf(serve(at('/report', cheap)))).toBe('402 payment_failed amount_mismatch');
    expect(paidCalls()).toEqual([]);
    const transaction = wireTransaction(asked, { tables });
    expect((await serve(at('/report', paymentOn[rail](headers, transaction)))).status).toBe(200);
  });

  test.each([
    ['a smart wallet', 'SWiGmQedKzMz1tiTqoJCWeGDnGXfNBp2PkXLkpCAtQo', 200],
    ['a program that the API does not know', OTHER, 402],
  ])('whose transfers %s makes is left to the API only if it is one', async (_, program, status) => {
    const { serve } = sell();
    const { headers } = await serve(at('/report'));
    const keys = [{ pubkey: PAYER.publicKey, isSigner: true, isWritable: false }];
    const before = [
      new TransactionInstruction({ programId: new PublicKey(program), keys, data: Buffer.of(1) }),
    ];
    const asked = { ...askedBy[rail](headers), legs: [] };
    const transaction = wireTransaction(asked, { before, payer: PAYER });
    expect((await serve(at('/report', paymentOn[rail](headers, transaction)))).status).toBe(status);
  });

  test('with an altered empty signature is the same payment', async () => {
    const { serve, deliveries } = sell();
    const { headers } = await serve(at('/report'));
    const one = wireTransaction(askedBy[rail](headers));
    const wire = Buffer.from(one, 'base64');
    const other = wire.fill(7, 1, 65).toString('base64');
    expect(one).not.toBe(other);
    await readAnswer(serve(at('/report', paymentOn[rail](headers, one))));
    const again = await serve(at('/report', paymentOn[rail](headers, other)));
    expect(again.headers.get('x-payment-replayed')).toBe('true');
    expect(deliveries).toHaveLength(1);
  });

  test.each(['', 'a', '%%%', Buffer.from('[]').toString('base64'), 'e30=', 'x'.repeat(9000)])(
    'that is malformed (%#) gets a 402 with offers, and no call is made',
    async (text) => {
      const { serve, deliveries } = sell();
      const headers = rail === 'x402' ? { 'payment-signature': text } : { authorization: `Payment ${text}` };
      const said = await readAnswer(serve(at('/report', headers)));
      expect(said.status).toBe(402);
      expect(memoOf[rail](said.headers)).toBeTruthy();
      expect([paidCalls(), deliveries]).toEqual([[], []]);
    },
  );
});

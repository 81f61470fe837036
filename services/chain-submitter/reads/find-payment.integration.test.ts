import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { referenceOf } from '../ledger/reference.ts';

/** The query that settlement makes before it declares an attempt with a lost record unpaid. */

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

const find = (quote_token: string, ...owners: Payer[]) =>
  call(fixture.settlementBus, chainSubmitter, 'findPayment', {
    quote_token,
    owners: owners.map(({ owner }) => owner.publicKey.toBase58()),
  });
/** The state after a restore: the payment is on the chain, and this service has no record of it. */
const loseRecordOf = async (job: { account_id: string; payment_attempt_id: string }) => {
  const intentId = `settle:${job.account_id}:${job.payment_attempt_id}`;
  await fixture.admin.query('delete from transactions where intent_id = $1', [intentId]);
  await fixture.admin.query('delete from intents where intent_id = $1', [intentId]);
};
const addressOf = ({ owner }: Payer) => owner.publicKey.toBase58();

test('a payment whose record is lost is found with the wallet that made it', async () => {
  const [payer, other] = [await fixture.payer(5_000_000n), await fixture.payer(5_000_000n)];
  const [quote, unpaid] = [fixture.quote(), fixture.quote()];
  expect(await find(quote.quote_token, payer)).toEqual({ paid: false, owner: null });
  const job = await fixture.settle(payer, quote);
  await fixture.events.wait(job.settlement_id, 'confirmed');
  await loseRecordOf(job);
  expect(await find(quote.quote_token, other, payer)).toEqual({ paid: true, owner: addressOf(payer) });
  expect(await find(quote.quote_token, other)).toEqual({ paid: true, owner: null });
  expect(await find(quote.quote_token)).toEqual({ paid: true, owner: null });
  expect(await find(unpaid.quote_token, payer)).toEqual({ paid: false, owner: null });
});

test('rule 2: a quote that another wallet paid is not paid again after the record of the payment is lost', async () => {
  const [payer, other] = [await fixture.payer(5_000_000n), await fixture.payer(5_000_000n)];
  const quote = fixture.quote();
  const first = await fixture.settle(payer, quote);
  await fixture.events.wait(first.settlement_id, 'confirmed');
  await loseRecordOf(first);
  const second = await fixture.settle(other, quote);
  await fixture.events.wait(second.settlement_id, 'failed');
  expect(await fixture.outside.balance(other.owner.publicKey)).toBe(5_000_000n);
});

test('a transaction with the reference that makes other transfers is not a payment', async () => {
  const [payer, payee] = [await fixture.payer(5_000_000n), await fixture.payer(1n)];
  const quote = fixture.quote();
  const { mint, tokenAccount } = fixture.outside;
  const { publicKey } = payer.owner;
  const dust = createTransferCheckedInstruction(
    tokenAccount(publicKey),
    mint,
    tokenAccount(payee.owner.publicKey),
    publicKey,
    1n,
    6,
  );
  const reference = new PublicKey(referenceOf('test', quote.quote_id));
  dust.keys.push({ pubkey: reference, isSigner: false, isWritable: false });
  await fixture.include([dust], [keypairOf(fixture.keys.mintAuthority.secretKey), payer.owner]);
  expect(await find(quote.quote_token, payer)).toEqual({ paid: false, owner: null });
});

test('a token that is not a quote of this environment is refused', async () => {
  await expect(find('a.b')).rejects.toMatchObject({ code: 'validation_error' });
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { referenceOf } from '../services/chain-submitter/ledger/reference.ts';
import { oneDatabase } from '../shared/db/databases.ts';
import { newId, newServiceId } from '../shared/lib/id.ts';
import { packToken } from '../shared/lib/tokens/packed-token.ts';
import {
  incomingPaymentsOver,
  PRICE,
  txHashOf,
} from '../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  keypairOf,
  type Payer,
  type Quote,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../test/support/fixtures/chain-submitter/submitter.ts';
import { captureTerms } from '../test/support/fixtures/settlement/settlement-quotes.ts';
import { isBroken } from './reconcile/compare.ts';
import { reconcile, reportText } from './reconcile.ts';

/**
 * Real payments on a local chain, their records, and then the errors that reconciliation must find.
 */

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

const [GROSS, FEE] = [1_000_000n, 10_000n];

const run = async () => {
  const { keys, chain, database } = fixture;
  const { reports } = await reconcile({
    environment: 'test',
    databases: oneDatabase(database.adminUrl),
    rpcUrl: chain.url,
    mint: keys.mint,
    feeWallet: keys.feeWallet.address,
    feePayers: [keys.feePayer.address],
  });
  const found = reports.flatMap(({ account, findings }) =>
    findings.map(({ kind, amount, what }) => ({ account, kind, amount, what })),
  );
  return { reports, found, broken: reports.filter(isBroken) };
};

/** A payment in the tables of settlement. */
const record = async (
  from: Payer,
  { quote_id, quote_token }: Quote,
  { settlement_id, tx_hash }: { settlement_id: string; tx_hash: string },
) => {
  const { admin } = fixture;
  await admin.query(
    `insert into settlement.payers (wallet_id, account_id, owner, authority, balance, allowance, as_of_slot)
     values ($1, $2, $3, $4, 0, 0, 1) on conflict do nothing`,
    [from.wallet_id, from.account_id, from.owner.publicKey.toBase58(), fixture.authority],
  );
  await admin.query(
    `insert into settlement.settlements (settlement_id, account_id, payment_attempt_id, wallet_id, quote_id, quote_token,
       vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, status, chain_status, tx_hash,
       under_way_since, expires_from, settlement_token, issued_at)
     values ($1, $2, $1, $3, $4, $5, 'acct_v', gen_random_uuid(), $6, $7, 900, 'issued', 'finalized', $8, null,
       public.app_now(), '\\x', public.app_now())`,
    [
      settlement_id,
      from.account_id,
      from.wallet_id,
      quote_id,
      packToken(quote_token),
      `${GROSS}`,
      `${FEE}`,
      tx_hash,
    ],
  );
};

/** What an authorization has besides, in the state of its settlement. */
const recordAuthorization = (settlementId: string, ceiling: bigint) =>
  fixture.admin.query(
    `insert into settlement.authorizations (settlement_id, account_id, vendor_account_id, wallet_id, mode, ceiling,
       ends_at, capped_at, due_at, voided_at, capturing_at)
     select settlement_id, account_id, vendor_account_id, wallet_id, 'usage', $2, now(), now(),
       case status when 'authorized' then now() end, case status when 'voided' then now() end,
       case when status not in ('authorized', 'voided') then now() end
     from settlement.settlements where settlement_id = $1`,
    [settlementId, `${ceiling}`],
  );

/** Pays a quote through the service and records it. */
const paid = async (from: Payer): Promise<{ quote: Quote; settlement_id: string; tx_hash: string }> => {
  const quote = fixture.quote({ amount: GROSS, fee: FEE });
  const { settlement_id } = await fixture.settle(from, quote);
  const { tx_hash } = await fixture.events.wait(settlement_id, 'finalized');
  await record(from, quote, { settlement_id, tx_hash: tx_hash! });
  return { quote, settlement_id, tx_hash: tx_hash! };
};

const accountOf = (owner: PublicKey) => fixture.outside.tokenAccount(owner).toBase58();

test('recorded payments and funds cause no drift, and transfers from elsewhere are foreign', async () => {
  const payer = await fixture.payer(5_000_000n);
  await paid(payer);
  await paid(payer);
  const { found, broken, reports } = await run();
  expect(broken).toEqual([]);
  // The test itself minted the payer's balance.
  expect(found).toEqual([
    expect.objectContaining({
      kind: 'foreign',
      account: accountOf(payer.owner.publicKey),
      amount: 5_000_000n,
    }),
  ]);
  expect(reports.every(({ unexplained }) => unexplained === 0n)).toBe(true);
});

/** What a restore of a backup from before a capture makes of its row. */
test.each([
  ['authorized', 'authorized'],
  ['voided', 'failed'],
])('a captured payment whose row says %s after a restore is reported', async (status, said) => {
  const payer = await fixture.payer(5_000_000n);
  const { settlement_id, tx_hash } = await paid(payer);
  const before = await run();
  await fixture.admin.query(
    `update settlement.settlements set status = $2, chain_status = 'none', tx_hash = null, issued_at = null,
       expires_from = null, is_authorization = true, holding = $2 = 'authorized' where settlement_id = $1`,
    [settlement_id, status],
  );
  await recordAuthorization(settlement_id, GROSS);
  const { found, broken } = await run();
  expect(before.broken).toEqual([]);
  const named = found.filter(({ what }) => what.includes(settlement_id));
  expect(named.map(({ kind, account, amount }) => ({ kind, account, amount }))).toContainEqual({
    kind: 'unrecorded',
    account: accountOf(payer.owner.publicKey),
    amount: -GROSS,
  });
  for (const { what } of named) expect(what).toContain(`is recorded as ${said}`);
  expect(broken).toHaveLength(3);
  await fixture.admin.query(
    `update settlement.settlements set status = 'issued', chain_status = 'finalized', holding = false, tx_hash = $2,
       expires_from = public.app_now(), issued_at = public.app_now() where settlement_id = $1`,
    [settlement_id, tx_hash],
  );
});

/** A capture beyond the first ceiling, with its extension, as settlement records them. */
const capturedWithExtension = async (payer: Payer) => {
  const terms = { capture: captureTerms(), vendor: newId('acct'), service: newServiceId() };
  const payout = Keypair.generate().publicKey;
  const quote = fixture.quote({ ...terms, payout, amount: GROSS });
  const extension = fixture.quote({ ...terms, payout, amount: GROSS, extended: quote.quote_id });
  const { settlement_id } = await fixture.settle(payer, quote, {
    capture_amount: '1500000',
    extension_tokens: [extension.quote_token],
  });
  const { tx_hash } = await fixture.events.wait(settlement_id, 'finalized');
  await record(payer, quote, { settlement_id, tx_hash: tx_hash! });
  const { admin } = fixture;
  await admin.query(
    `update settlement.settlements set quote_amount = 1500000, fee_amount = 10000, is_authorization = true
     where settlement_id = $1`,
    [settlement_id],
  );
  await recordAuthorization(settlement_id, 2_000_000n);
  await admin.query(
    `insert into settlement.extensions (extension_id, settlement_id, account_id, payment_attempt_id, quote_id, quote_token,
       amount)
     select $1, settlement_id, account_id, 'extension', $3, quote_token, $4 from settlement.settlements
     where settlement_id = $2`,
    [newId('ext'), settlement_id, extension.quote_id, `${GROSS}`],
  );
  return { extension };
};
const findingsOf = ({ found }: Awaited<ReturnType<typeof run>>, payer: Payer) =>
  found.filter(({ account, kind }) => account === accountOf(payer.owner.publicKey) && kind !== 'foreign');

test('the capture of an extended ceiling is one payment, and its extension moves nothing', async () => {
  const payer = await fixture.payer(5_000_000n);
  await capturedWithExtension(payer);
  const result = await run();
  expect(result.broken).toEqual([]);
  expect(findingsOf(result, payer)).toEqual([]);
});

test('a payment of another protocol is known, and one without a record is an error', async () => {
  const [vendor, buyer] = [await fixture.payer(1n), await fixture.payer(5_000_000n)];
  const clients = incomingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  const source = accountOf(buyer.owner.publicKey);
  const settlementId = newId('stl');
  const payment = await clients.signed(buyer);
  const tx_hash = txHashOf(await clients.submit(payment, settlementId));
  await fixture.events.wait(settlementId, 'finalized');
  const before = (await run()).found.filter(({ account }) => account === source);
  expect(before).toContainEqual(expect.objectContaining({ kind: 'unrecorded', amount: -PRICE }));
  await fixture.admin.query(
    `insert into settlement.settlements (settlement_id, rail, vendor_account_id, service_id, quote_amount, fee_amount,
       holding, status, chain_status, under_way_since, tx_hash, issued_at)
     values ($1, 'x402', 'acct_v', gen_random_uuid(), $2, 0, false, 'issued', 'finalized', null, $3, public.app_now())`,
    [settlementId, `${PRICE}`, tx_hash],
  );
  await fixture.admin.query(
    `insert into settlement.incoming_payments (settlement_id, account_id, service_name, payout_address, message_hash,
       payer_address, source_account, accrued_fee, signs_last)
     values ($1, 'acct_v', 'Weather', $2, $3, $4, $5, 0, false)`,
    [
      settlementId,
      vendor.owner.publicKey.toBase58(),
      await clients.hashOf(payment),
      buyer.owner.publicKey.toBase58(),
      source,
    ],
  );
  const { found, broken } = await run();
  expect(broken).toEqual([]);
  expect(found.filter(({ account }) => account === source)).toEqual([
    expect.objectContaining({ kind: 'foreign', amount: 5_000_000n }),
  ]);
});

test('an outgoing payment is open until its transaction is recorded, and known then', async () => {
  const [payer, vendor] = [await fixture.payer(5_000_000n), await fixture.payer(1n)];
  const { keys, outside, include, admin } = fixture;
  const authority = keypairOf(keys.delegateAuthorities[0]!.secretKey);
  const [from, to] = [payer, vendor].map(({ owner }) => outside.tokenAccount(owner.publicKey));
  const settlementId = newId('stl');
  await record(payer, fixture.quote({ amount: GROSS, fee: FEE }), {
    settlement_id: settlementId,
    tx_hash: '5'.repeat(87),
  });
  await admin.query('delete from settlement.settlements where settlement_id = $1', [settlementId]);
  await admin.query(
    `insert into settlement.settlements (settlement_id, rail, account_id, payment_attempt_id, wallet_id, quote_amount,
       fee_amount)
     values ($1, 'x402_out', $2, $1, $3, $4, 0)`,
    [settlementId, payer.account_id, payer.wallet_id, `${GROSS}`],
  );
  await admin.query(
    `insert into settlement.outgoing_payees (settlement_id, ord, account_id, address, amount) values ($1, 1, $2, $3, $4)`,
    [settlementId, payer.account_id, vendor.owner.publicKey.toBase58(), `${GROSS}`],
  );
  const tx_hash = await include(
    [createTransferCheckedInstruction(from!, outside.mint, to!, authority.publicKey, GROSS, 6)],
    [keypairOf(keys.feePayer.secretKey), authority],
  );
  const ofPayer = ({ found }: Awaited<ReturnType<typeof run>>) =>
    found.filter(({ account, kind }) => account === from!.toBase58() && kind !== 'foreign');
  const before = await run();
  expect(before.broken).toEqual([]);
  expect(ofPayer(before)).toEqual([expect.objectContaining({ kind: 'open', amount: -GROSS })]);
  await admin.query(
    `update settlement.settlements set status = 'issued', chain_status = 'finalized', under_way_since = null,
       tx_hash = $2, issued_at = public.app_now(), holding = false where settlement_id = $1`,
    [settlementId, tx_hash],
  );
  const after = await run();
  expect(after.broken).toEqual([]);
  expect(ofPayer(after)).toEqual([]);
});

test('a transfer by the owner is foreign and explains the drift', async () => {
  const payer = await fixture.payer(5_000_000n);
  await paid(payer);
  const other = Keypair.generate();
  const { mint, tokenAccount } = fixture.outside;
  const [from, to] = [tokenAccount(payer.owner.publicKey), tokenAccount(other.publicKey)];
  const minter = keypairOf(fixture.keys.mintAuthority.secretKey);
  const signature = await fixture.include(
    [
      createAssociatedTokenAccountIdempotentInstruction(minter.publicKey, to, other.publicKey, mint),
      createTransferCheckedInstruction(from, mint, to, payer.owner.publicKey, 300_000n, 6),
    ],
    [minter, payer.owner],
  );
  const { found, broken } = await run();
  expect(found).toContainEqual({
    account: from.toBase58(),
    kind: 'foreign',
    amount: -300_000n,
    what: signature,
  });
  expect(broken).toEqual([]);
});

test('a recorded payment that is not on the chain is reported as missing, by name, on every account that it would have changed', async () => {
  const payer = await fixture.payer(5_000_000n);
  const settlement_id = newId('stl');
  const quote = fixture.quote({ amount: GROSS, fee: FEE });
  await record(payer, quote, { settlement_id, tx_hash: '5'.repeat(87) });
  const { found, broken } = await run();
  const missing = found.filter(({ kind }) => kind === 'missing');
  expect(missing.map(({ account, amount }) => [account, amount])).toEqual(
    expect.arrayContaining([
      [accountOf(payer.owner.publicKey), GROSS],
      [accountOf(quote.payout), FEE - GROSS],
      [accountOf(new PublicKey(fixture.keys.feeWallet.address)), -FEE],
    ]),
  );
  expect(missing.every(({ what }) => what.includes(settlement_id))).toBe(true);
  expect(broken).toHaveLength(3);
  await fixture.admin.query('delete from settlement.settlements where settlement_id = $1', [settlement_id]);
});

test('a second transaction of one record is reported as doubled, by name, even if no table has it', async () => {
  const payer = await fixture.payer(5_000_000n);
  const { quote, settlement_id, tx_hash } = await paid(payer);
  const { keys, outside, include } = fixture;
  const authority = keypairOf(keys.delegateAuthorities[0]!.secretKey);
  const [from, to] = [outside.tokenAccount(payer.owner.publicKey), outside.tokenAccount(quote.payout)];
  const transfer = createTransferCheckedInstruction(
    from,
    outside.mint,
    to,
    authority.publicKey,
    GROSS - FEE,
    6,
  );
  transfer.keys.push({
    pubkey: new PublicKey(referenceOf('test', quote.quote_id)),
    isSigner: false,
    isWritable: false,
  });
  const second = await include([transfer], [keypairOf(keys.feePayer.secretKey), authority]);
  const { found, broken, reports } = await run();
  const doubled = found.filter(({ kind }) => kind === 'doubled');
  expect(doubled.map(({ account, amount }) => [account, amount])).toEqual(
    expect.arrayContaining([
      [from.toBase58(), FEE - GROSS],
      [to.toBase58(), GROSS - FEE],
    ]),
  );
  for (const { what } of doubled)
    for (const name of [settlement_id, second, tx_hash]) expect(what).toContain(name);
  expect(broken).toHaveLength(2);
  expect(reportText(reports)).toMatch(/accounts, 2 with unexplained drift$/);
});

test('a transfer by our keys without a record is never reported as foreign', async () => {
  const payer = await fixture.payer(5_000_000n);
  const { quote } = await paid(payer);
  const { keys, outside, include } = fixture;
  const authority = keypairOf(keys.delegateAuthorities[0]!.secretKey);
  const [from, to] = [outside.tokenAccount(payer.owner.publicKey), outside.tokenAccount(quote.payout)];
  await include(
    [createTransferCheckedInstruction(from, outside.mint, to, authority.publicKey, 5n, 6)],
    [keypairOf(keys.feePayer.secretKey), authority],
  );
  const { found } = await run();
  expect(found.filter(({ kind }) => kind === 'unrecorded').map(({ amount }) => amount)).toEqual(
    expect.arrayContaining([-5n, 5n]),
  );
});

test('a payment by the quote of an extension is reported, because an extension pays nothing', async () => {
  const payer = await fixture.payer(5_000_000n);
  const { extension } = await capturedWithExtension(payer);
  const { keys, outside, include } = fixture;
  const authority = keypairOf(keys.delegateAuthorities[0]!.secretKey);
  const [from, to] = [outside.tokenAccount(payer.owner.publicKey), outside.tokenAccount(extension.payout)];
  const transfer = createTransferCheckedInstruction(from, outside.mint, to, authority.publicKey, 7n, 6);
  const reference = new PublicKey(referenceOf('test', extension.quote_id));
  transfer.keys.push({ pubkey: reference, isSigner: false, isWritable: false });
  await include([transfer], [keypairOf(keys.feePayer.secretKey), authority]);
  const [finding, ...others] = findingsOf(await run(), payer);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ kind: 'unrecorded', amount: -7n });
});

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { Keypair, Transaction } from '@solana/web3.js';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  incomingPaymentsOver,
  PRICE,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  keypairOf,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** What transactions cost, against the balance of the fee payer on the chain. */
let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
  await fixture.start();
});
afterEach(() => fixture.chain.call('chain_fault'));
afterAll(() => fixture.stop());

const RENT = 2_039_280n;
const VENDOR = newId('acct');

const balance = async (): Promise<bigint> => {
  const { value } = await fixture.chain.call<{ value: number }>('getBalance', fixture.keys.feePayer.address, {
    commitment: 'confirmed',
  });
  return BigInt(value);
};

type Sums = { transactions: bigint; fee: bigint; rent: bigint };
/** The sums of the platform, or of an account, of one kind or all. */
const sums = async (accountId: string, kind: string | null = null): Promise<Sums> => {
  const { rows } = await fixture.admin.query(
    `select coalesce(sum(transactions), 0)::text as transactions, coalesce(sum(fee_lamports), 0)::text as fee,
       coalesce(sum(rent_lamports), 0)::text as rent
     from network_costs where account_id = $1 and ($2::text is null or kind = $2)`,
    [accountId, kind],
  );
  const { transactions, fee, rent } = rows[0];
  return { transactions: BigInt(transactions), fee: BigInt(fee), rent: BigInt(rent) };
};
const isRead = () =>
  until(
    async () => (await fixture.admin.query('select from unread_costs')).rowCount,
    (unread) => unread === 0,
  );

test('what a payment took is recorded with it, for its vendor and the platform, to the lamport', async () => {
  const before = await balance();
  // One is read by itself, and six in one slot by their block.
  const payout = Keypair.generate().publicKey;
  for (const count of [1, 6]) {
    const payers = await Promise.all(Array.from({ length: count }, () => fixture.payer(5_000_000n)));
    await fixture.chain.call('chain_clock', { paused: true });
    const jobs = await Promise.all(
      payers.map((payer) => fixture.settle(payer, fixture.quote({ vendor: VENDOR, payout }))),
    );
    await fixture.chain.call('chain_clock', { paused: false });
    await Promise.all(jobs.map(({ settlement_id }) => fixture.events.wait(settlement_id, 'finalized')));
  }
  await isRead();
  const spent = before - (await balance());
  expect(await sums(VENDOR)).toEqual({ transactions: 7n, fee: 70_000n, rent: RENT });
  expect(await sums('')).toEqual({ transactions: 7n, fee: 70_000n, rent: RENT });
  expect(spent).toBe(70_000n + RENT);
  const { rows } = await fixture.admin.query(
    'select fee_lamports::text as fee, rent_lamports::text as rent from transactions order by rent_lamports desc',
  );
  expect(rows).toEqual([
    { fee: '10000', rent: `${RENT}` },
    ...Array.from({ length: 6 }, () => ({ fee: '10000', rent: '0' })),
  ]);
});

test('work without amounts, and a payment that fails on the chain, are read afterwards and counted once', async () => {
  const [before, known] = [await balance(), await sums('')];
  const wallet = {
    wallet_id: newId('wal'),
    account_id: newId('acct'),
    owner: Keypair.generate().publicKey.toBase58(),
  };
  await fixture.send(fixture.walletBus, 'createTokenAccount', wallet);
  await fixture.events.wait(wallet.wallet_id, 'finalized');

  // A buyer who signs last empties the account first.
  const [vendor, buyer] = [await fixture.payer(1n), await fixture.payer(PRICE)];
  const { asked, submit } = incomingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  const settlementId = newId('stl');
  const answer = await submit(await asked(buyer), settlementId);
  if (answer.outcome === 'refused') throw new Error(answer.message);
  const { mint, tokenAccount } = fixture.outside;
  const [from, to] = [buyer, vendor].map(({ owner }) => tokenAccount(owner.publicKey));
  const moving = createTransferCheckedInstruction(from!, mint, to!, buyer.owner.publicKey, PRICE, 6);
  await fixture.include([moving], [keypairOf(fixture.keys.mintAuthority.secretKey), buyer.owner]);
  const transaction = Transaction.from(Buffer.from(answer.transaction!, 'base64'));
  transaction.partialSign(buyer.owner);
  const wire = transaction.serialize({ verifySignatures: false }).toString('base64');
  await fixture.chain.call('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
  await fixture.events.wait(settlementId, 'failed');
  await isRead();
  const [spent, now] = [before - (await balance()), await sums('')];
  expect(now.fee + now.rent - known.fee - known.rent).toBe(spent);
  expect(now.transactions - known.transactions).toBe(2n);
  expect(await sums(vendor.account_id)).toEqual({ transactions: 1n, fee: 10_001n, rent: 0n });
  expect(await sums(wallet.account_id, 'createTokenAccount')).toEqual({
    transactions: 1n,
    fee: 5000n,
    rent: RENT,
  });
});

test('an operator reads the sums of a month and of a day, by kind and by account', async () => {
  const operator = await fixture.operatorBus();
  const ask = (period: string, account_id: string | null = null) =>
    call(operator, chainSubmitter, 'getCosts', { period, account_id, limit: 50 });
  const today = new Date().toISOString().slice(0, 10);
  const month = await ask(today.slice(0, 7), VENDOR);
  expect(month.accounts).toEqual([
    { account_id: VENDOR, kind: 'settle', transactions: 7, fee_lamports: '70000', rent_lamports: `${RENT}` },
  ]);
  expect((await ask(today)).platform).toEqual(month.platform);
  expect(month.platform.map(({ kind }) => kind)).toEqual(['createTokenAccount', 'incoming', 'settle']);
  expect(await ask('2020-02')).toEqual({
    from: '2020-02-01',
    before: '2020-03-01',
    platform: [],
    accounts: [],
    unread: 0,
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { createApproveCheckedInstruction } from '@solana/spl-token';
import { Keypair, Transaction } from '@solana/web3.js';
import { type Consumer, type Paid, settleWith } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { signPrepared } from '../../deploy/local/seed/wallet.ts';
import { refusalIn } from '../support/rules/refusals.ts';
import { atOnce, tally } from '../support/servers/stack.ts';
import { approvalRaces } from './approvals.ts';
import { deliveryRaces } from './deliveries.ts';
import { BALANCE, type Fixture, PRICE, RACERS } from './fixture.ts';
import { purchaseRaces } from './purchases.ts';
import { outcome, outcomes, paidExactly, type Race, unless } from './race.ts';
import { tabRaces } from './tabs.ts';

type Answer = Awaited<ReturnType<Fixture['settleToTheEnd']>>;

/** Checks 64 settles during which the owner revoked the permission. */
const moneyAgrees = async (
  fixture: Fixture,
  buyer: Consumer & { accountId: string },
  first: Paid,
  answers: readonly Answer[],
) => {
  const paid = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  const after = await fixture.settleToTheEnd(buyer, (await fixture.quotes(1))[0]!);
  const hashes = new Set([first.tx_hash, ...paid.map(({ body }) => body.tx_hash)]);
  return [
    ...unless(
      refused.every((one) => outcome(one) === 'delegation_inactive' && one.body.error?.money_moved === 'no'),
      `answers ${outcomes(answers)}`,
    ),
    ...unless(hashes.size === paid.length + 1, `${hashes.size} transactions for ${paid.length + 1} payments`),
    ...unless(outcome(after) === 'delegation_inactive', `afterwards ${outcome(after)}`),
    ...(await paidExactly(fixture, buyer, paid.length + 1)),
  ];
};

const sameAttempt: Race = async (fixture) => {
  const buyer = await fixture.buyerWith();
  const [quote] = await fixture.quotes(1);
  const id = crypto.randomUUID();
  const answers = await atOnce(RACERS, () => fixture.settleToTheEnd(buyer, quote!, id));
  const answered = new Set(answers.map(({ body }) => `${body.settlement_id} ${body.tx_hash}`));
  return [
    ...unless(
      answers.every(({ status }) => status === 200) && answered.size === 1,
      `${outcomes(answers)}, ${[...answered]}`,
    ),
    ...(await paidExactly(fixture, buyer, 1)),
  ];
};

/** Two replicas may each read the other's hold first. All copies are the same payment. */
const sameAttemptOfALimit =
  (limits: (price: string) => { total?: string; daily?: string }): Race =>
  async (fixture) => {
    const buyer = await fixture.buyerWith();
    const [first, quote] = await fixture.quotes(2);
    // The wallet has paid before, so that only the limit can refuse.
    await must(fixture.settleToTheEnd(buyer, first!), 'settle');
    const delegate = await fixture.delegateOf(buyer, limits(PRICE.toString()));
    const asking = { ...delegate, causedByItself: ['limit_exceeded'] };
    const id = crypto.randomUUID();
    const answers = await fixture.whileCommitsWait(buyer, () =>
      atOnce(RACERS, () => fixture.settleToTheEnd(asking, quote!, id)),
    );
    return [
      ...unless(outcomes(answers) === JSON.stringify({ 200: RACERS }), outcomes(answers)),
      ...(await paidExactly(fixture, buyer, 2)),
    ];
  };

const NEWCOMERS = 16;

/**
 * Wallets that settlement has never read: each copy reads the chain first, and then meets another's
 * hold.
 */
const firstPayments: Race = async (fixture) => {
  const buyers = await atOnce(NEWCOMERS, () => fixture.buyerWith(PRICE, PRICE));
  const quotes = await fixture.quotes(NEWCOMERS);
  const ids = quotes.map(() => crypto.randomUUID());
  const who = (racer: number) => racer % NEWCOMERS;
  const answers = await atOnce(RACERS, (racer) => {
    const at = who(racer);
    const buyer = { ...buyers[at]!, causedByItself: ['insufficient_funds', 'delegation_inactive'] };
    return fixture.settleToTheEnd(buyer, quotes[at]!, ids[at]);
  });
  const wallets = await Promise.all(buyers.map((buyer) => paidExactly(fixture, buyer, 1, PRICE)));
  return [
    ...unless(outcomes(answers) === JSON.stringify({ 200: RACERS }), outcomes(answers)),
    ...wallets.flat(),
  ];
};

/**
 * Every call of an account for a quote that the account has paid gets the id of that settlement.
 */
const paidByAnother: Race = async (fixture) => {
  const buyer = await fixture.buyerWith();
  const [quote, other] = await fixture.quotes(2);
  const delegates = await atOnce(2, () => fixture.delegateOf(buyer, {}));
  const id = crypto.randomUUID();
  const paid = await must(fixture.settleToTheEnd(delegates[0]!, quote!, id), 'settle');
  const answers = await atOnce(RACERS, (i) => {
    if (i % 3 === 0) return fixture.settleToTheEnd(delegates[1]!, quote!, id);
    return i % 3 === 1
      ? fixture.settleToTheEnd(delegates[i % 2]!, quote!)
      : fixture.settleToTheEnd(buyer, other!, id);
  });
  const named = answers.filter(({ body }) => refusalIn(body)?.settlementId === paid.settlement_id);
  return [
    ...unless(named.length === RACERS, `${named.length} of ${RACERS} answers name the settlement`),
    ...(await paidExactly(fixture, buyer, 1)),
  ];
};

const sameQuote: Race = async (fixture) => {
  const buyer = await fixture.buyerWith();
  const [quote] = await fixture.quotes(1);
  const answers = await atOnce(RACERS, () => fixture.settleToTheEnd(buyer, quote!));
  return [
    ...unless(
      outcomes(answers) === JSON.stringify({ 200: 1, quote_already_settled: RACERS - 1 }),
      outcomes(answers),
    ),
    ...(await paidExactly(fixture, buyer, 1)),
  ];
};

const runOnAWallet: Race = async (fixture) => {
  const payable = 10;
  const balance = PRICE * BigInt(payable);
  const buyer = await fixture.buyerWith(balance);
  const quotes = await fixture.quotes(RACERS);
  const answers = await atOnce(RACERS, (i) => fixture.settleToTheEnd(buyer, quotes[i]!));
  const failed = (await fixture.chain.history(buyer.wallet.publicKey)).filter(({ err }) => err !== null);
  return [
    ...unless(
      outcomes(answers) === JSON.stringify({ 200: payable, insufficient_funds: RACERS - payable }),
      outcomes(answers),
    ),
    ...unless(failed.length === 0, `${failed.length} transactions failed on chain`),
    ...(await paidExactly(fixture, buyer, payable, balance)),
  ];
};

const runOnALimit: Race = async (fixture) => {
  const payable = 10;
  const buyer = await fixture.buyerWith();
  const limit = (PRICE * BigInt(payable + 1)).toString();
  const delegate = await fixture.delegateOf(buyer, { daily: limit, total: limit });
  const [first, ...quotes] = await fixture.quotes(RACERS + 1);
  await must(fixture.settleToTheEnd(delegate, first!), 'settle');
  const answers = await atOnce(RACERS, (i) => fixture.settleToTheEnd(delegate, quotes[i]!));
  const [used] = await fixture.rows<{ used: string }>(
    "select total_held || ' ' || total_spent || ' ' || day_spent as used from settlement.delegates where delegate_id = $1",
    [delegate.id],
  );
  return [
    ...unless(
      outcomes(answers) === JSON.stringify({ 200: payable, limit_exceeded: RACERS - payable }),
      outcomes(answers),
    ),
    ...unless(used?.used === `0 ${limit} ${limit}`, `the delegate used ${used?.used} of ${limit}`),
    ...(await paidExactly(fixture, buyer, payable + 1)),
  ];
};

const SPENT_WITHIN_MS = 30_000;

/**
 * Half of the calls are settles, half are payments to vendors of others, which at most five may be
 * open at once. The vendors include all of theirs.
 */
const mixedOnALimit: Race = async (fixture) => {
  const payable = 10;
  const limit = (PRICE * BigInt(payable + 1)).toString();
  const [buyer, { feePayer, payees, include }] = await Promise.all([fixture.buyerWith(), fixture.outside()]);
  const external = { external: { pay_to: payees, origins: null } };
  const delegate = await fixture.delegateOf(buyer, { daily: limit, total: limit }, external);
  const [first, ...quotes] = await fixture.quotes(RACERS / 2 + 1);
  await must(fixture.settleToTheEnd(delegate, first!), 'settle');
  const payOut = async (i: number) => {
    const answer = await fixture.payToTheEnd(delegate, { payTo: payees[i % payees.length]!, feePayer });
    if (answer.status === 200) await include(answer.body.transaction);
    return answer.body.error?.code ?? answer.status;
  };
  const answers = await atOnce(RACERS, async (i) =>
    i % 2 === 0 ? outcome(await fixture.settleToTheEnd(delegate, quotes[i / 2]!)) : payOut(i),
  );
  const used = async () => {
    const [row] = await fixture.rows<{ used: string }>(
      "select total_held || ' ' || total_spent || ' ' || day_spent as used from settlement.delegates where delegate_id = $1",
      [delegate.id],
    );
    return row?.used;
  };
  const deadline = Date.now() + SPENT_WITHIN_MS;
  while (!(await used())?.startsWith('0 ') && Date.now() < deadline) await sleep(100);
  const counted = JSON.stringify(tally(answers));
  return [
    ...unless(counted === JSON.stringify({ 200: payable, limit_exceeded: RACERS - payable }), counted),
    ...unless((await used()) === `0 ${limit} ${limit}`, `the delegate used ${await used()} of ${limit}`),
    ...(await paidExactly(fixture, buyer, payable + 1)),
  ];
};

const delegatesOnAWallet: Race = async (fixture) => {
  const payable = 10;
  const buyer = await fixture.buyerWith(BALANCE, PRICE * BigInt(payable));
  const quotes = await fixture.quotes(RACERS);
  const delegates = await atOnce(RACERS, () => fixture.delegateOf(buyer, { total: PRICE.toString() }));
  const answers = await atOnce(RACERS, (i) => fixture.settleToTheEnd(delegates[i]!, quotes[i]!));
  return [
    ...unless(
      outcomes(answers) === JSON.stringify({ 200: payable, delegation_inactive: RACERS - payable }),
      outcomes(answers),
    ),
    ...(await paidExactly(fixture, buyer, payable)),
  ];
};

type Redeemed = { redeemed_at?: string; redeem_id?: string; replayed?: boolean };
const redeem = ({ api, vendor }: Fixture, { settlement_id, settlement_token }: Paid, redeemId?: string) =>
  api<Redeemed>(`POST /v1/settlements/${settlement_id}/redeem`, {
    token: vendor.apiKey,
    body: { settlement_token, ...(redeemId === undefined ? {} : { redeem_id: redeemId }) },
  });

const redeems: Race = async (fixture) => {
  const buyer = await fixture.buyerWith();
  const paid = await must(fixture.settleToTheEnd(buyer, (await fixture.quotes(1))[0]!), 'settle');
  const answers = await atOnce(RACERS, (i) => redeem(fixture, paid, `replica-${i}`));
  const answered = new Set(answers.map(({ body }) => `${body.redeemed_at} ${body.redeem_id}`));
  const firsts = answers.filter(({ body }) => body.replayed === false).length;
  return [
    ...unless(
      answers.every(({ status }) => status === 200),
      JSON.stringify(tally(answers.map((one) => one.status))),
    ),
    ...unless(firsts === 1 && answered.size === 1, `${firsts} firsts: ${[...answered].join(', ')}`),
  ];
};

const SPREAD_MS = 1500;
const EXPIRED_WITHIN_MS = 20_000;

const redeemAgainstExpiry: Race = async (fixture) => {
  const { api, rows } = fixture;
  const buyer = await fixture.buyerWith();
  const quotes = await fixture.quotes(RACERS);
  const paid = await atOnce(RACERS, (i) => must(settleWith(api, buyer.token, quotes[i]!), 'settle'));
  const ids = paid.map(({ settlement_id }) => settlement_id);
  // Windows of 30 s and more are too long for a test. They end now, spread over the time of the
  // redeems.
  await rows(
    `update settlement.settlements set redeem_expires_at = now() + random() * $2 * interval '1 millisecond',
       created_at = created_at - redeem_window_seconds * interval '1 second',
       expires_from = expires_from - redeem_window_seconds * interval '1 second'
     where settlement_id = any($1)`,
    [ids, SPREAD_MS],
  );
  const first = await atOnce(RACERS, async (i) => {
    await sleep(Math.random() * SPREAD_MS);
    return redeem(fixture, paid[i]!);
  });
  const statuses = async () =>
    new Map(
      (
        await rows<{ settlement_id: string; status: string }>(
          'select settlement_id, status from settlement.settlements where settlement_id = any($1)',
          [ids],
        )
      ).map(({ settlement_id, status }) => [settlement_id, status]),
    );
  const deadline = Date.now() + EXPIRED_WITHIN_MS;
  while ([...(await statuses()).values()].includes('issued') && Date.now() < deadline) await sleep(100);
  const again = await atOnce(RACERS, (i) => redeem(fixture, paid[i]!));
  const recorded = await statuses();
  return first.flatMap(({ status, body }, i) => [
    ...unless(status === 200 || status === 410, `redeem answered ${status}`),
    ...unless(again[i]!.status === status, `${ids[i]}: ${status}, then ${again[i]!.status}`),
    ...unless(again[i]!.body.redeemed_at === body.redeemed_at, `${ids[i]} was redeemed twice`),
    ...unless(
      recorded.get(ids[i]!) === (status === 200 ? 'redeemed' : 'expired'),
      `${ids[i]}: ${status}, recorded ${recorded.get(ids[i]!)}`,
    ),
  ]);
};

const revokeAgainstSettles: Race = async (fixture) => {
  const { api } = fixture;
  const buyer = await fixture.buyerWith();
  const path = `POST /v1/wallets/${buyer.walletId}/revoke` as const;
  const { first, answers } = await fixture.settlesAgainst(buyer, async () => {
    const prepared = await must(
      api<{ transaction: string }>(path, { token: buyer.token, body: {} }),
      'revoke',
    );
    const transaction = signPrepared(prepared.transaction, buyer.wallet);
    await must(api(path, { token: buyer.token, body: { transaction } }), 'revoke');
  });
  return moneyAgrees(fixture, buyer, first, answers);
};

const overwrittenAgainstSettles: Race = async (fixture) => {
  const buyer = await fixture.buyerWith();
  const { connection, mint, tokenAccount } = fixture.chain;
  const owner = buyer.wallet.publicKey;
  await fixture.lamportsFor(buyer);
  const { first, answers } = await fixture.settlesAgainst(buyer, async () => {
    const { blockhash } = await connection.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: owner, recentBlockhash: blockhash });
    const stranger = Keypair.generate().publicKey;
    transaction
      .add(createApproveCheckedInstruction(tokenAccount(owner), mint, stranger, owner, 5n, 6))
      .sign(buyer.wallet);
    await connection.sendRawTransaction(transaction.serialize());
  });
  return moneyAgrees(fixture, buyer, first, answers);
};

/**
 * Races of 64 concurrent calls each. After each race its refusals are compared with the records
 * (`run`).
 */
export const races: Record<string, Race> = {
  'rule 1: one attempt, 64 calls': sameAttempt,
  'rule 1: one attempt of a delegate whose total suffices once, 64 calls': sameAttemptOfALimit((total) => ({
    total,
  })),
  'rule 1: one attempt of a delegate whose day suffices once, 64 calls': sameAttemptOfALimit((daily) => ({
    daily,
  })),
  'rule 1: the first payments of 16 wallets with their full balance, 4 calls each': firstPayments,
  'a paid quote or id, called by another delegate, id or quote': paidByAnother,
  'rule 2: 64 attempts on one quote': sameQuote,
  'rule 5: 64 settles of a wallet that can pay 10': runOnAWallet,
  'rule 4: 64 settles of a delegate whose limit leaves 10': runOnALimit,
  'rule 4: 32 settles and 32 outgoing payments of a delegate whose limit leaves 10': mixedOnALimit,
  'rule 5: 64 delegates on a wallet that allows 10': delegatesOnAWallet,
  '64 redeems of one settlement': redeems,
  'redeem against the expiry job': redeemAgainstExpiry,
  'revoke against settles': revokeAgainstSettles,
  'an approval overwritten by its owner against settles': overwrittenAgainstSettles,
  ...purchaseRaces,
  ...approvalRaces,
  ...deliveryRaces,
  ...tabRaces,
};

/** Runs a race and compares every refusal of it with the records. */
export const run = async (race: Race, fixture: Fixture): Promise<string[]> => {
  const broken = await race(fixture);
  return [...broken, ...(await fixture.untrueRefusals())];
};

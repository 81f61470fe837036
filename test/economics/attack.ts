import { createBurnCheckedInstruction, createCloseAccountInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { call } from '../../shared/bus/call.ts';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { newId } from '../../shared/lib/id.ts';
import { signChanged } from '../support/fixtures/chain-submitter/prepared.ts';
import { keypairOf, type SubmitterFixture, until } from '../support/fixtures/chain-submitter/submitter.ts';
import { transfersOver } from '../support/fixtures/chain-submitter/transfers.ts';
import { type Attack, type Attacker, GROSS, type Round, SIGNATURE } from './attack-kind.ts';
import { emptySource, emptySourceOfMpp, useUpTheHour, useUpTheLamports } from './incoming-attacks.ts';

/**
 * Attacks on the fee payer's spending: rent of token accounts that the attacker closes again, and
 * fees of transactions that the platform co-signs. Every round calls as the other services would,
 * over a real chain-submitter and the local chain.
 */
export type Result = {
  attack: string;
  rounds: number;
  /** Token accounts created at the platform's cost. */
  created: number;
  /** Rounds in which something was refused. */
  refused: number;
  rent: bigint;
  /** Fees that the platform paid: signatures of all included transactions. */
  fees: bigint;
  /** What the attacker paid: USDC fees of settles, and lamports of its other transactions. */
  attackerMicro: bigint;
  attackerLamports: bigint;
  /**
   * Settles of another account meanwhile, to a vendor that has a token account, and the slowest of
   * them.
   */
  bystanders: number;
  slowestMs: number;
  /** Other accounts' quotes for a vendor without a token account: granted, and refused. */
  newVendors: { granted: number; refused: number };
};

const RENT = 2_039_280n;
const PAYER_BALANCE = 10_000_000_000_000n;

const CREATED: Round = { created: 1, refused: false };
const REFUSED: Round = { created: 0, refused: true };

/** Calls as the quote service would, for a quote of ten minutes. */
const reserve = async ({ account_id, quotes }: Attacker, owner: PublicKey): Promise<string> => {
  const until = new Date(Date.now() + 700_000).toISOString();
  const asked = { account_id, owner: owner.toBase58(), until };
  return (await call(quotes, chainSubmitter, 'reserveTokenAccount', asked)).status;
};

const exists = async ({ outside }: SubmitterFixture, owner: PublicKey): Promise<boolean> =>
  (await outside.connection.getAccountInfo(outside.tokenAccount(owner))) !== null;

/** Empties and closes a token account. Its rent goes to the attacker. */
const close = async (
  { outside, keys, include }: SubmitterFixture,
  attacker: Attacker,
  owner: Keypair,
): Promise<void> => {
  attacker.lamports += 2n * SIGNATURE;
  const account = outside.tokenAccount(owner.publicKey);
  const balance = await outside.balance(owner.publicKey);
  const tokenAccount = keypairOf(keys.mintAuthority.secretKey);
  await include(
    [
      ...(balance > 0n
        ? [createBurnCheckedInstruction(account, outside.mint, owner.publicKey, balance, 6)]
        : []),
      createCloseAccountInstruction(account, tokenAccount.publicKey, owner.publicKey),
    ],
    [tokenAccount, owner],
  );
};

const ended = (fixture: SubmitterFixture, objectId: string) =>
  until(
    async () => fixture.events.of(objectId).at(-1)?.status,
    (status) => status === 'confirmed' || status === 'finalized' || status === 'failed',
  );

/** A settle whose quote was created as the quote service does. */
const settle = async (
  fixture: SubmitterFixture,
  attacker: Attacker,
  payout: PublicKey,
): Promise<'paid' | 'failed' | 'refused'> => {
  const { account_id, payer } = attacker;
  if ((await reserve(attacker, payout)) === 'refused') return 'refused';
  const job = await fixture.settle(payer, fixture.quote({ amount: GROSS, payout, vendor: account_id }));
  return (await ended(fixture, job.settlement_id)) === 'failed' ? 'failed' : 'paid';
};

/**
 * After an attempt: the platform paid for the token account that exists now, and it is closed for
 * its rent.
 */
const harvest = async (fixture: SubmitterFixture, attacker: Attacker, owner: Keypair): Promise<Round> => {
  if (!(await exists(fixture, owner.publicKey))) return REFUSED;
  await close(fixture, attacker, owner);
  return CREATED;
};

const REFUSALS = ['conflict', 'rate_limited', 'service_unavailable'];

/** The code of a refusal, or `ok`. */
const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => {
      if (error instanceof ServiceError) return error.code;
      throw error;
    },
  );

/** True: a limit refused it. */
const isRefused = async (work: Promise<unknown>): Promise<boolean> =>
  REFUSALS.includes(await outcomeOf(work));

/** Approves, or with null revokes, as the wallet service would. */
const delegate = async (
  fixture: SubmitterFixture,
  { account_id }: Attacker,
  owner: Keypair,
  allowance: bigint | null,
): Promise<void> => {
  const preparation_id = newId('prep');
  const { transaction } = await call(fixture.walletBus, chainSubmitter, 'prepareDelegation', {
    ...{ preparation_id, account_id, owner: owner.publicKey.toBase58() },
    allowance: allowance === null ? null : `${allowance}`,
  });
  const signed = signChanged(transaction, owner);
  await call(fixture.walletBus, chainSubmitter, 'submitPrepared', { preparation_id, transaction: signed });
  await ended(fixture, preparation_id);
};

/** Payout addresses with a grant, until the attack settles them all. */
const promised: { account_id: string; payout: Keypair }[] = [];
let approves = true;

const attacks = {
  'vendor closes its payout account and comes back': {
    round: async (fixture, attacker, keep) => {
      await settle(fixture, attacker, keep.publicKey);
      return harvest(fixture, attacker, keep);
    },
  },
  'vendor settles old quotes, past the check of the quote': {
    round: async (fixture, attacker, keep) => {
      const { account_id, payer } = attacker;
      const quote = fixture.quote({ amount: GROSS, payout: keep.publicKey, vendor: account_id });
      const job = await fixture.settle(payer, quote);
      await ended(fixture, job.settlement_id);
      return harvest(fixture, attacker, keep);
    },
  },
  'vendor takes a new payout address each time': {
    round: async (fixture, attacker) => {
      const fresh = Keypair.generate();
      await settle(fixture, attacker, fresh.publicKey);
      return harvest(fixture, attacker, fresh);
    },
  },
  'consumer closes its account and delegates anew': {
    round: async (fixture, attacker, keep) => {
      await isRefused(delegate(fixture, attacker, keep, GROSS));
      return harvest(fixture, attacker, keep);
    },
  },
  'consumer provisions a new wallet each time': {
    round: async (fixture, attacker) => {
      const fresh = Keypair.generate();
      const wallet_id = newId('wal');
      const job = { wallet_id, account_id: attacker.account_id, owner: fresh.publicKey.toBase58() };
      await fixture.send(fixture.walletBus, 'createTokenAccount', job);
      await ended(fixture, wallet_id);
      return harvest(fixture, attacker, fresh);
    },
  },
  'consumer closes its account and asks for test funds': {
    round: async (fixture, attacker, keep) => {
      const fund_id = newId('fund');
      const job = {
        fund_id,
        account_id: attacker.account_id,
        owner: keep.publicKey.toBase58(),
        amount: '1',
      };
      await fixture.send(fixture.fundingBus, 'fund', job);
      await ended(fixture, fund_id);
      return harvest(fixture, attacker, keep);
    },
  },
  'account approves and revokes in turn': {
    round: async (fixture, attacker) => {
      const allowance = approves ? GROSS : null;
      approves = !approves;
      return {
        created: 0,
        refused: await isRefused(delegate(fixture, attacker, attacker.payer.owner, allowance)),
      };
    },
  },
  'transfers pass simulation and fail on the chain': {
    round: async (fixture, attacker) => {
      const { prepare, submit } = transfersOver(() => fixture);
      const { outside } = fixture;
      const { account_id, payer, mirror } = attacker;
      const balance = await outside.balance(payer.owner.publicKey);
      const [from, to] = balance > 0n ? [payer.owner, mirror.owner] : [mirror.owner, payer.owner];
      const amount = await outside.balance(from.publicKey);
      let refused = false;
      const prepared = [];
      for (let transfer = 0; transfer < 2; transfer += 1) {
        const one = prepare({ ...payer, owner: from, account_id }, to.publicKey, amount);
        if (await isRefused(one)) refused = true;
        else prepared.push(await one);
      }
      // Both transfer the full balance, and both are simulated before either is included.
      const submissions = await Promise.all(prepared.map((one) => outcomeOf(submit(one))));
      for (const [at, { id }] of prepared.entries()) if (submissions[at] === 'ok') await ended(fixture, id);
      refused ||= submissions.some((outcome) => REFUSALS.includes(outcome));
      return { created: 0, refused };
    },
  },
  'five prepared transfers to one fresh address, closed in between': {
    round: async (fixture, attacker) => {
      const { prepare, submit } = transfersOver(() => fixture);
      const fresh = Keypair.generate();
      const from = { ...attacker.payer, account_id: newId('acct') };
      const prepared = [];
      for (let transfer = 0; transfer < 5; transfer += 1)
        prepared.push(await prepare(from, fresh.publicKey, 1n));
      const round: Round = { created: 0, refused: false };
      for (const one of prepared) {
        if (await isRefused(submit(one))) round.refused = true;
        else await ended(fixture, one.id);
        round.created += (await harvest(fixture, attacker, fresh)).created;
      }
      return round;
    },
  },
  'buyer empties its source while x402 payments are under way': { round: emptySource },
  'sources are emptied until their vendor is blocked': {
    env: (rounds) => ({ INCOMING_FAILURES_PER_DAY: `${rounds}` }),
    round: emptySource,
  },
  'sources of MPP are emptied, to a vendor that has received nothing': { round: emptySourceOfMpp },
  'x402 payments use up the hour of all vendors': useUpTheHour,
  'x402 payments use up the lamports of all vendors': useUpTheLamports,
  'quotes from a thousand accounts': {
    // One token account for each of the accounts, of the three that each asks for.
    env: (rounds) => ({
      SETTLE_RENT_LAMPORTS_PER_DAY: `${BigInt(rounds) * RENT}`,
    }),
    round: async (_fixture, attacker) => {
      const account_id = newId('acct');
      let refused = false;
      for (let quote = 0; quote < 3; quote += 1) {
        const payout = Keypair.generate();
        if ((await reserve({ ...attacker, account_id }, payout.publicKey)) === 'refused') refused = true;
        else promised.push({ account_id, payout });
      }
      return { created: 0, refused };
    },
    finish: async (fixture, attacker) => {
      let created = 0;
      while (promised.length > 0) {
        const some = promised.splice(0, 10);
        await Promise.all(
          some.map(({ account_id, payout }) =>
            settle(fixture, { ...attacker, account_id }, payout.publicKey),
          ),
        );
        for (const { payout } of some) created += (await harvest(fixture, attacker, payout)).created;
      }
      return created;
    },
  },
} satisfies Record<string, Attack>;
export type AttackName = keyof typeof attacks;
export const attackNames = Object.keys(attacks) as AttackName[];
export const attackOf = (name: AttackName): Attack => attacks[name];

/** An attack has stopped the payment of somebody else. */
export class BystanderUnpaid extends Error {
  override name = 'BystanderUnpaid';
}

/**
 * Runs one attack. In every tenth of the rounds another account pays a vendor that has a token
 * account, and a vendor without one requests a quote.
 * @throws BystanderUnpaid when a bystander's settle does not end as paid
 */
export const runAttack = async (
  fixture: SubmitterFixture,
  name: AttackName,
  rounds: number,
): Promise<Result> => {
  const { keys, outside, admin } = fixture;
  const { round: attack, finish } = attackOf(name);
  const feePayer = keypairOf(keys.feePayer.secretKey).publicKey;
  const lamports = async () => BigInt(await outside.connection.getBalance(feePayer));
  const earned = () => outside.balance(new PublicKey(keys.feeWallet.address));
  const quotes = await fixture.quoteBus();
  const attacker = {
    ...{ account_id: newId('acct'), payer: await fixture.payer(PAYER_BALANCE) },
    ...{ mirror: await fixture.payer(0n), quotes, lamports: 0n },
  };
  const bystander = await fixture.payer(PAYER_BALANCE);
  const vendor = await fixture.payer(0n);
  const keep = Keypair.generate();
  const every = Math.max(1, Math.floor(rounds / 10));
  const result: Result = {
    ...{ attack: name, rounds, created: 0, refused: 0, rent: 0n, fees: 0n },
    ...{ attackerMicro: 0n, attackerLamports: 0n, bystanders: 0, slowestMs: 0 },
    newVendors: { granted: 0, refused: 0 },
  };
  let lost = 0n;
  const measured = async <T>(work: () => Promise<T>): Promise<T> => {
    const [before, fees] = [await lamports(), await earned()];
    const done = await work();
    lost += before - (await lamports());
    result.attackerMicro += (await earned()) - fees;
    return done;
  };
  for (let round = 0; round < rounds; round += 1) {
    const { created, refused } = await measured(() => attack(fixture, attacker, keep));
    result.created += created;
    if (refused) result.refused += 1;
    if (round % every !== every - 1) continue;
    const other = { ...attacker, account_id: newId('acct'), payer: bystander };
    const isNew = (await reserve(other, Keypair.generate().publicKey)) === 'granted';
    result.newVendors[isNew ? 'granted' : 'refused'] += 1;
    const startedAt = performance.now();
    const paid = await settle(fixture, other, vendor.owner.publicKey).catch((error: Error) => error.message);
    if (paid !== 'paid') throw new BystanderUnpaid(`round ${round}: a bystander’s settle is ${paid}`);
    result.bystanders += 1;
    result.slowestMs = Math.max(result.slowestMs, Math.round(performance.now() - startedAt));
  }
  if (finish !== undefined) result.created += await measured(() => finish(fixture, attacker));
  const { rows } = await admin.query<{ n: number }>(
    'select count(*)::int as n from grants group by account_id order by n desc limit 1',
  );
  if (rows.length > 0 && rows[0]!.n > 3) throw new Error(`${name}: ${rows[0]!.n} grants of one account`);
  result.rent = BigInt(result.created) * RENT;
  return { ...result, fees: lost - result.rent, attackerLamports: attacker.lamports };
};

import { createBurnCheckedInstruction, createCloseAccountInstruction } from '@solana/spl-token';
import { Keypair, Message, type PublicKey } from '@solana/web3.js';
import { call } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { privateKeyFromSeed, signBytes } from '../../shared/lib/ed25519.ts';
import { newId } from '../../shared/lib/id.ts';
import { keypairOf, type Payer, type SubmitterFixture, until } from '../support/submitter.ts';

/**
 * Who lives on the platform's rent: takes a token account that the platform pays for, closes it, keeps the lamports
 * and comes back. Every round asks as the service itself would, over a real chain-submitter and the local chain.
 */
export type Result = {
  attack: string;
  rounds: number;
  /** Token accounts created at the platform's cost. */
  created: number;
  refused: number;
  /** What the fee payer has less: rent, and fees of everything that it signed. */
  lamports: bigint;
  rent: bigint;
  /** Another account's settles to a new vendor meanwhile, and the slowest of them. */
  bystanders: number;
  slowestMs: number;
};

const RENT = 2_039_280n;
const GROSS = 1_000_000n;
const PAYER_BALANCE = 10_000_000_000_000n;

type Attacker = { account_id: string; payer: Payer; quotes: Bus };
/** One round: whether the platform paid for a token account. */
type Attack = (
  fixture: SubmitterFixture,
  attacker: Attacker,
  keep: Keypair,
) => Promise<'created' | 'refused'>;

const reserve = async ({ account_id, quotes }: Attacker, owner: PublicKey) =>
  (await call(quotes, chainSubmitter, 'reserveTokenAccount', { account_id, owner: owner.toBase58() })).status;

const exists = async ({ outside }: SubmitterFixture, owner: PublicKey): Promise<boolean> =>
  (await outside.connection.getAccountInfo(outside.tokenAccount(owner))) !== null;

/** Empties and closes a token account; its rent goes to whoever does it. */
const close = async ({ outside, keys, land }: SubmitterFixture, owner: Keypair): Promise<void> => {
  const account = outside.tokenAccount(owner.publicKey);
  const balance = await outside.balance(owner.publicKey);
  const purse = keypairOf(keys.mintAuthority.secretKey);
  await land(
    [
      ...(balance > 0n
        ? [createBurnCheckedInstruction(account, outside.mint, owner.publicKey, balance, 6)]
        : []),
      createCloseAccountInstruction(account, purse.publicKey, owner.publicKey),
    ],
    [purse, owner],
  );
};

const ended = (fixture: SubmitterFixture, objectId: string) =>
  until(
    async () => fixture.facts.of(objectId).at(-1)?.status,
    (status) => status === 'confirmed' || status === 'finalized' || status === 'failed',
  );

/** A settle whose quote was made as the quote service makes it. */
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

const signAs = (owner: Keypair, transaction: string): string => {
  const wire = Buffer.from(transaction, 'base64');
  const message = Message.from(wire.subarray(1 + 64 * wire[0]!));
  const slots = message.accountKeys
    .slice(0, message.header.numRequiredSignatures)
    .map((key) =>
      key.equals(owner.publicKey)
        ? signBytes(message.serialize(), privateKeyFromSeed(owner.secretKey.subarray(0, 32)))
        : new Uint8Array(64),
    );
  return Buffer.concat([Uint8Array.of(slots.length), ...slots, message.serialize()]).toString('base64');
};

/** After whatever was tried: what stands there now was paid by us, and is closed for its rent. */
const harvest = async (fixture: SubmitterFixture, owner: Keypair): Promise<'created' | 'refused'> => {
  if (!(await exists(fixture, owner.publicKey))) return 'refused';
  await close(fixture, owner);
  return 'created';
};

export const attacks: Record<string, Attack> = {
  'vendor closes its payout account and comes back': async (fixture, attacker, keep) => {
    await settle(fixture, attacker, keep.publicKey);
    return harvest(fixture, keep);
  },
  'vendor settles old quotes, past the check of the quote': async (fixture, { account_id, payer }, keep) => {
    const quote = fixture.quote({ amount: GROSS, payout: keep.publicKey, vendor: account_id });
    const job = await fixture.settle(payer, quote);
    await ended(fixture, job.settlement_id);
    return harvest(fixture, keep);
  },
  'vendor takes a new payout address each time': async (fixture, attacker) => {
    const fresh = Keypair.generate();
    await settle(fixture, attacker, fresh.publicKey);
    return harvest(fixture, fresh);
  },
  'consumer closes its account and delegates anew': async (fixture, { account_id }, keep) => {
    const preparation_id = newId('prep');
    const ask = {
      preparation_id,
      account_id,
      owner: keep.publicKey.toBase58(),
    };
    try {
      const { transaction } = await call(fixture.walletBus, chainSubmitter, 'prepareDelegation', {
        ...ask,
        allowance: `${GROSS}`,
      });
      const signed = signAs(keep, transaction);
      await call(fixture.walletBus, chainSubmitter, 'submitPrepared', {
        preparation_id,
        transaction: signed,
      });
      await ended(fixture, preparation_id);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
    }
    return harvest(fixture, keep);
  },
  'consumer provisions a new wallet each time': async (fixture, { account_id }) => {
    const fresh = Keypair.generate();
    const wallet_id = newId('wal');
    const job = { wallet_id, account_id, owner: fresh.publicKey.toBase58() };
    await fixture.send(fixture.walletBus, 'createTokenAccount', job);
    await ended(fixture, wallet_id);
    return harvest(fixture, fresh);
  },
  'consumer closes its account and asks for test funds': async (fixture, { account_id }, keep) => {
    const fund_id = newId('fund');
    const job = { fund_id, account_id, owner: keep.publicKey.toBase58(), amount: '1' };
    await fixture.send(fixture.fundingBus, 'fund', job);
    await ended(fixture, fund_id);
    return harvest(fixture, keep);
  },
};

/**
 * Runs one attack by one account. Every tenth of the rounds somebody else has a vendor without a token account paid.
 * @throws when a bystander's settle does not end as paid
 */
export const runAttack = async (fixture: SubmitterFixture, name: string, rounds: number): Promise<Result> => {
  const { keys, outside, admin } = fixture;
  const feePayer = keypairOf(keys.feePayer.secretKey).publicKey;
  const lamports = async () => BigInt(await outside.connection.getBalance(feePayer));
  const quotes = await fixture.quoteBus();
  const attacker = { account_id: newId('acct'), payer: await fixture.payer(PAYER_BALANCE), quotes };
  const bystander = await fixture.payer(PAYER_BALANCE);
  const keep = Keypair.generate();
  const every = Math.max(1, Math.floor(rounds / 10));
  const result = { attack: name, rounds, created: 0, refused: 0, bystanders: 0, slowestMs: 0 };
  let lost = 0n;
  for (let round = 0; round < rounds; round += 1) {
    const before = await lamports();
    result[await attacks[name]!(fixture, attacker, keep)] += 1;
    lost += before - (await lamports());
    if (round % every !== every - 1) continue;
    const startedAt = performance.now();
    const other = { account_id: newId('acct'), payer: bystander, quotes };
    const paid = await settle(fixture, other, Keypair.generate().publicKey);
    if (paid !== 'paid') throw new Error(`${name}, round ${round}: a bystander’s settle is ${paid}`);
    result.bystanders += 1;
    result.slowestMs = Math.max(result.slowestMs, Math.round(performance.now() - startedAt));
  }
  const { rows } = await admin.query<{ n: number }>(
    'select count(*)::int as n from grants where account_id = $1',
    [attacker.account_id],
  );
  if (rows[0]!.n > 3) throw new Error(`${name}: ${rows[0]!.n} grants of one account`);
  return { ...result, lamports: lost, rent: BigInt(result.created) * RENT };
};

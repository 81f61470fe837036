import { PublicKey } from '@solana/web3.js';
import { newId } from '../../shared/lib/id.ts';
import {
  incomingPaymentsOver,
  PRICE,
  reasonOf,
} from '../support/fixtures/chain-submitter/incoming-payments.ts';
import type { SubmitterFixture } from '../support/fixtures/chain-submitter/submitter.ts';
import { type Attack, type Attacker, GROSS, type Round, SIGNATURE } from './attack-kind.ts';

const EMPTIED_PAYMENTS = 5;
/** More of MPP would only wait for those of their source. */
const EMPTIED_OF_MPP = 3;
/** The fee of an MPP payment, which has a leg of its own. */
const MPP_FEE = 1000n;

type Legs = { owner: PublicKey; amount: bigint }[];

/**
 * A new source pays the attacker with the highest priority fee, and is emptied before its payments
 * reach the chain. The attacker pays for the source's account, whose rent comes back, and for the
 * emptying.
 */
const emptied = async (
  fixture: SubmitterFixture,
  attacker: Attacker,
  { count, legs }: { count: number; legs: Legs },
): Promise<Round> => {
  const buyer = await fixture.payer(BigInt(count) * PRICE);
  const vendor = { ...attacker.mirror, account_id: attacker.account_id };
  const { signed, submitAndEmpty } = incomingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  attacker.lamports += 4n * SIGNATURE;
  const payments = [];
  for (let payment = 0; payment < count; payment += 1)
    payments.push(await signed(buyer, { legs, microLamports: 1_000_000 }));
  const answers = await submitAndEmpty(buyer, payments, attacker.payer.owner.publicKey);
  return { created: 0, refused: answers.map(reasonOf).some((answer) => answer !== 'submitted') };
};

/** Payments of x402. */
export const emptySource: Attack['round'] = (fixture, attacker) => {
  const legs = [{ owner: attacker.mirror.owner.publicKey, amount: PRICE }];
  return emptied(fixture, attacker, { count: EMPTIED_PAYMENTS, legs });
};

/** Payments of MPP, for which nothing accrues. */
export const emptySourceOfMpp: Attack['round'] = (fixture, attacker) => {
  const legs = [
    { owner: attacker.mirror.owner.publicKey, amount: PRICE - MPP_FEE },
    { owner: new PublicKey(fixture.keys.feeWallet.address), amount: MPP_FEE },
  ];
  return emptied(fixture, attacker, { count: EMPTIED_OF_MPP, legs });
};

/** The settles of others during an attack, as `runAttack` makes them. */
const BYSTANDERS = 10n;

const LARGE = 20_000_000n;

/**
 * A new source pays a new vendor by x402. The hour of such payments has room for half of them, and
 * five of them would use up that of settles: who counts both in one hour keeps the others waiting.
 */
export const useUpTheHour: Attack = {
  env: (rounds) => ({
    INCOMING_HOURLY_CAP_MICRO: `${(LARGE * BigInt(rounds)) / 2n}`,
    // An account has a tenth.
    ENVIRONMENT_HOURLY_CAP_MICRO: `${10n * BYSTANDERS * GROSS}`,
    WALLET_HOURLY_CAP_MICRO: `${LARGE}`,
  }),
  round: async (fixture, attacker) => {
    const [buyer, vendor] = [await fixture.payer(LARGE), await fixture.payer(1n)];
    const legs = [{ owner: vendor.owner.publicKey, amount: LARGE }];
    const { signed, submit } = incomingPaymentsOver(
      () => fixture,
      () => ({ ...vendor, account_id: newId('acct') }),
    );
    attacker.lamports += 2n * SIGNATURE;
    return { created: 0, refused: reasonOf(await submit(await signed(buyer, { legs }))) !== 'submitted' };
  },
};

const PAYMENTS = 5;
/** The fees of one with the highest priority fee, and those of a refund. */
const RESERVED_LAMPORTS = 40_000n;
const VENDORS_LAMPORTS = BigInt(PAYMENTS) * RESERVED_LAMPORTS;

/**
 * New buyers pay a new vendor, whose part of the day's lamports they use up. Half of the vendors do
 * that to the whole. The lamports of settles are as many: who counts both as one keeps the others
 * waiting.
 */
export const useUpTheLamports: Attack = {
  env: (rounds) => {
    const lamports = `${(VENDORS_LAMPORTS * BigInt(rounds)) / 2n}`;
    return { INCOMING_FEES_LAMPORTS_PER_DAY: lamports, SETTLE_FEES_LAMPORTS_PER_DAY: lamports };
  },
  round: async (fixture, attacker) => {
    const vendor = { ...(await fixture.payer(1n)), account_id: newId('acct') };
    const { signed, submit } = incomingPaymentsOver(
      () => fixture,
      () => vendor,
    );
    const pay = async (): Promise<string> => {
      attacker.lamports += 2n * SIGNATURE;
      const payment = await signed(await fixture.payer(PRICE), { microLamports: 1_000_000 });
      return reasonOf(await submit(payment));
    };
    const answers = await Promise.all(Array.from({ length: PAYMENTS }, pay));
    return { created: 0, refused: answers.some((answer) => answer !== 'submitted') };
  },
};

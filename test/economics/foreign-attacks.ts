import { newId } from '../../shared/lib/id.ts';
import { foreignPaymentsOver, PRICE, reasonOf } from '../support/foreign-payments.ts';
import type { SubmitterFixture } from '../support/submitter.ts';
import { type Attack, type Attacker, GROSS, type Round, SIGNATURE } from './attack-kind.ts';

const EMPTIED_PAYMENTS = 5;

/**
 * A new source pays the attacker by x402 with the highest priority fee, and is emptied before its
 * payments reach the chain. The attacker pays for the source's account, whose rent comes back, and
 * for the emptying.
 */
export const emptySource = async (fixture: SubmitterFixture, attacker: Attacker): Promise<Round> => {
  const buyer = await fixture.payer(BigInt(EMPTIED_PAYMENTS) * PRICE);
  const vendor = { ...attacker.mirror, account_id: attacker.account_id };
  const { signed, submitAndEmpty } = foreignPaymentsOver(
    () => fixture,
    () => vendor,
  );
  attacker.lamports += 4n * SIGNATURE;
  const payments = [];
  for (let payment = 0; payment < EMPTIED_PAYMENTS; payment += 1)
    payments.push(await signed(buyer, { microLamports: 1_000_000 }));
  const answers = await submitAndEmpty(buyer, payments, attacker.payer.owner.publicKey);
  return { created: 0, refused: answers.map(reasonOf).some((answer) => answer !== 'submitted') };
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
    FOREIGN_HOURLY_CAP_MICRO: `${(LARGE * BigInt(rounds)) / 2n}`,
    // An account has a tenth.
    ENVIRONMENT_HOURLY_CAP_MICRO: `${10n * BYSTANDERS * GROSS}`,
    WALLET_HOURLY_CAP_MICRO: `${LARGE}`,
  }),
  round: async (fixture, attacker) => {
    const [buyer, vendor] = [await fixture.payer(LARGE), await fixture.payer(1n)];
    const legs = [{ owner: vendor.owner.publicKey, amount: LARGE }];
    const { signed, submit } = foreignPaymentsOver(
      () => fixture,
      () => ({ ...vendor, account_id: newId('acct') }),
    );
    attacker.lamports += 2n * SIGNATURE;
    return { created: 0, refused: reasonOf(await submit(await signed(buyer, { legs }))) !== 'submitted' };
  },
};

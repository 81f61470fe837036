/** What an account needs next to pay a price from its wallet: three steps in their order. Pure. */

export type StepName = 'wallet' | 'money' | 'pay';
export const STEP_NAMES: readonly StepName[] = ['wallet', 'money', 'pay'];

/** A wallet, as far as the steps need it. Amounts are in micro-units. */
type Payer = {
  wallet_id: string;
  balance: string;
  delegation: { status: string; allowance: string };
};

/**
 * The wallet that pays: the one that the account has chosen, or its first one.
 * @param wallets newest first, as the API lists them
 */
export const payerOf = <W extends Payer>(wallets: readonly W[], chosen: string | null): W | null =>
  wallets.find(({ wallet_id }) => wallet_id === chosen) ?? wallets.at(-1) ?? null;

export const nextStep = (payer: Payer | null, price: bigint): StepName => {
  if (payer === null) return 'wallet';
  return BigInt(payer.balance) < price ? 'money' : 'pay';
};

const allowedOf = ({ delegation: { status, allowance } }: Payer): bigint =>
  status === 'active' ? BigInt(allowance) : 0n;

/**
 * The allowance that the owner has to sign before the payment: the price beside what is allowed, so
 * that nothing else that may spend stops. Null: enough is allowed.
 * @param isRefused the API has refused the payment for want of an allowance: others hold it
 */
export const allowanceFor = (payer: Payer, price: bigint, isRefused = false): bigint | null => {
  const allowed = allowedOf(payer);
  return allowed >= price && !isRefused ? null : allowed + price;
};

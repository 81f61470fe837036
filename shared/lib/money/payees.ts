/**
 * Whom a payment pays. This is the only place that derives it from a recipient and its splits. The
 * SDK has a generated copy, because it is published without the rest of this repository.
 */

/** An address, and the micro-units that it gets. */
export type Payee = { address: string; amount: string };

/** What a vendor asks for: `amount` is all of it, and a split is a part of it for somebody else. */
type Asked = {
  pay_to: string;
  amount: string;
  splits?: readonly { pay_to: string; amount: string }[] | undefined;
};

/** The micro-units that the splits leave the recipient. Without any, nobody can be paid so. */
export const restOf = ({ amount, splits = [] }: Omit<Asked, 'pay_to'>): bigint =>
  splits.reduce((rest, split) => rest - BigInt(split.amount), BigInt(amount));

/**
 * Everybody whom a payment pays, each address once: the recipient with what the splits leave it,
 * then those of the splits. The amounts add up to that of the payment.
 */
export const payeesOf = ({ pay_to, amount, splits = [] }: Asked): Payee[] => {
  const parts = new Map([[pay_to, restOf({ amount, splits })]]);
  for (const split of splits) parts.set(split.pay_to, (parts.get(split.pay_to) ?? 0n) + BigInt(split.amount));
  return [...parts].map(([address, micro]) => ({ address, amount: String(micro) }));
};

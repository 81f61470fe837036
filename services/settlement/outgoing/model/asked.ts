import type { OutgoingSplit } from '../../../../shared/contract/chain-submitter.ts';
import { MAX_MEMO_BYTES } from '../../../../shared/contract/primitives.ts';
import { formatMicro } from '../../../../shared/lib/money/micro.ts';
import { type Payee, payeesOf } from '../../../../shared/lib/money/payees.ts';

/** Who is paid what. */
export type Asked = {
  amountMicro: bigint;
  payTo: string;
  feePayer: string;
  /** The memo that the vendor requires. Null: any of x402, none of MPP. */
  memo: string | null;
  /** Further payees, of MPP. */
  splits?: readonly OutgoingSplit[];
};

export type OutgoingTerms = {
  /** CAIP-2 id, of version 2 of x402. */
  network: string;
  mint: string;
};

/** chain-submitter stores it as jsonb, which has no NUL and no half of a surrogate pair. */
export const isMemo = (text: string): boolean =>
  Buffer.byteLength(text) <= MAX_MEMO_BYTES && !/[\p{Cc}\p{Cs}]/u.test(text);

/** Everybody whom a payment pays, and how much. */
export const payeesAsked = ({ payTo, amountMicro, splits }: Asked): Payee[] =>
  payeesOf({ pay_to: payTo, amount: formatMicro(amountMicro), splits });

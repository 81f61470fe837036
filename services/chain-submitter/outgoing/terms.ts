import { createHash } from 'node:crypto';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import type { OutgoingRequest } from '../transactions/parse-order.ts';

/** What the transaction of an outgoing payment does, with every address derived. */
export type OutgoingTerms = {
  owner: string;
  authority: string;
  payTo: string;
  feePayer: string;
  source: string;
  destination: string;
  amountMicro: bigint;
  memo: string;
};

const MEMO_BYTES = 16;

/**
 * The memo of an attempt whose vendor requires none. Without it, two equal payments with one
 * blockhash would be one message.
 */
export const memoOf = (intentId: string): string =>
  createHash('sha256').update(intentId).digest().subarray(0, MEMO_BYTES).toString('hex');

/** The terms of a request. The mint and the source are this deployment's, whatever is asked for. */
export const termsOf = (
  intentId: string,
  { owner, authority, pay_to, fee_payer, amount, memo }: OutgoingRequest,
  mint: string,
): OutgoingTerms => ({
  owner,
  authority,
  payTo: pay_to,
  feePayer: fee_payer,
  source: tokenAccountOf(owner, mint),
  destination: tokenAccountOf(pay_to, mint),
  amountMicro: parseMicro(amount),
  memo: memo ?? memoOf(intentId),
});

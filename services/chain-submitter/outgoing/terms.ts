import { createHash } from 'node:crypto';
import { tokenAccountOf } from '../chain/addresses.ts';
import { outgoingLegs } from '../transactions/outgoing-legs.ts';
import type { OutgoingRequest } from '../transactions/parse-order.ts';

/** What the transaction of an outgoing payment does, with every address derived. */
export type OutgoingTerms = {
  owner: string;
  authority: string;
  feePayer: string;
  source: string;
  /** What is paid to whom, in the order of the transaction. */
  legs: readonly OutgoingLeg[];
  /** The limit of compute units. */
  units: number;
};
export type OutgoingLeg = {
  payTo: string;
  destination: string;
  amountMicro: bigint;
  /** The memo after its transfer. Null: none. */
  memo: string | null;
};

/** What facilitators of x402 accept, which is enough for a transfer and a memo. */
const UNITS_OF_LEG = 20_000;

const MEMO_BYTES = 16;

/**
 * The memo of an attempt whose vendor requires none. Without it, two equal payments with one
 * blockhash would be one message.
 */
export const memoOf = (intentId: string): string =>
  createHash('sha256').update(intentId).digest().subarray(0, MEMO_BYTES).toString('hex');

/** What a payment pays to whom. */
export const legsOf = (
  intentId: string,
  request: Pick<OutgoingRequest, 'pay_to' | 'amount' | 'memo' | 'splits'>,
  mint: string,
): OutgoingLeg[] => {
  // Vendors of MPP accept no memo but those that they require.
  const memo = request.splits === undefined ? (request.memo ?? memoOf(intentId)) : request.memo;
  return outgoingLegs({ ...request, memo }).map((leg) => ({
    ...leg,
    destination: tokenAccountOf(leg.payTo, mint),
  }));
};

/** What the payer pays in total. */
export const grossOf = ({ legs }: Pick<OutgoingTerms, 'legs'>): bigint =>
  legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);

/** The terms of a request. The mint and the source are this deployment's, whatever is asked for. */
export const termsOf = (intentId: string, request: OutgoingRequest, mint: string): OutgoingTerms => {
  const { owner, authority, fee_payer: feePayer } = request;
  const legs = legsOf(intentId, request, mint);
  return {
    owner,
    authority,
    feePayer,
    source: tokenAccountOf(owner, mint),
    legs,
    units: UNITS_OF_LEG * legs.length,
  };
};

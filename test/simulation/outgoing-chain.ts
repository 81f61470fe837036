import {
  type IncludedTransaction,
  parseIncluded,
} from '../../services/chain-submitter/chain/included-transaction.ts';
import { actors } from './actors.ts';
import type { Payment } from './chain.ts';
import type { Harness } from './harness.ts';

/** Whether a provider lists a transaction under a reference, or under the source of a transfer. */
export const isUnder = ({ reference, transfers }: Payment, address: string): boolean =>
  reference === address || transfers.some(({ source }) => source === address);

/**
 * A transaction as a provider returns it. The signatures of a run are not made by keys, because the
 * model of the chain has verified none.
 * @param isFalse the provider invents the signature, which the reader notices
 */
export const includedOf = (wire: Uint8Array, { isFalse }: { isFalse: boolean }): IncludedTransaction => {
  const included = parseIncluded(wire);
  return { ...included, feePayer: () => (isFalse ? null : (included.accountAt(0) ?? null)) };
};

const sources = new Set(actors.payers.map(({ token_account }) => token_account));

/** Whether a payer of a run pays a vendor of others: buyers of x402 and MPP have other accounts. */
export const isToOthers = ({ reference, outside, transfers }: Payment): boolean =>
  reference === null && outside === undefined && transfers.some(({ source }) => sources.has(source));

/** Mutations: the history of a source is not searched, or at one provider only. */
export const hidesHistory = (
  { off }: Pick<Harness, 'off'>,
  { number, address }: { number: number; address: string },
): boolean =>
  sources.has(address) &&
  (off === 'outgoing expiry: history' ||
    (off === 'outgoing expiry: history of every provider' && number > 1));

/** Mutations: the proof does not ask whether a blockhash is valid. */
export const restsOnNumbers = ({ off }: Pick<Harness, 'off'>): boolean =>
  off === 'outgoing expiry: valid blockhash' || off === 'outgoing expiry: last block';

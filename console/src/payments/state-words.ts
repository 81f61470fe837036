import { STAGE_WORDS as WORDS } from '../../../sdk/src/payment.ts';
import type { Stage } from './sales-figures.ts';

/** One word for each state of a payment, on every page. */

type Tone = 'good' | 'wait' | 'bad' | 'none';
export type Word = readonly [text: string, tone: Tone];

/** What became of a payment, for buyer and vendor. */
export const STAGE_WORDS: Record<Stage, Word> = {
  quoted: ['quoted', 'none'],
  paying: [WORDS.paying, 'wait'],
  authorized: [WORDS.authorized, 'wait'],
  extension: ['extension', 'none'],
  paid: [WORDS.paid, 'good'],
  delivered: [WORDS.delivered, 'good'],
  undelivered: [WORDS.undelivered, 'bad'],
  unpaid: ['expired', 'none'],
  voided: [WORDS.voided, 'none'],
  failed: [WORDS.failed, 'bad'],
  reversed: [WORDS.reversed, 'bad'],
};

export const REFUNDED: Word = ['refunded', 'wait'];
export const PARTLY_REFUNDED: Word = ['partly refunded', 'wait'];

/** A transfer in the list of transactions, which has what the chain shows. */
export const transferWord = (type: string, status: string): Word =>
  status === 'reversed' ? STAGE_WORDS.reversed : [TRANSFERS[type] ?? 'completed', 'good'];
const TRANSFERS: Record<string, string> = { payment: 'paid', refund: 'refunded' };

/** A refund, which its vendor signs. */
export const REFUND_WORDS: Record<string, Word> = {
  pending_signature: ['awaiting signature', 'wait'],
  submitted: ['pending', 'wait'],
  confirmed: ['refunded', 'good'],
  finalized: ['refunded', 'good'],
  failed: [WORDS.failed, 'bad'],
  cancelled: ['cancelled', 'none'],
  expired: ['expired', 'none'],
};

/** How certain the chain is: a quiet mark beside the state. None for a state without money. */
export const CHAIN_WORDS: Record<string, string | undefined> = {
  confirmed: 'confirmed',
  finalized: 'final',
};

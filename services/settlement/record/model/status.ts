import type { z } from 'zod';
import type {
  ChainStatus as ChainStatusShape,
  SettlementStatus,
} from '../../../../shared/contract/settlement.ts';
import { stateMachine } from '../../../../shared/state-machine.ts';

/**
 * Lifecycle of a settlement (docs/spec/interface.md, States and transitions;
 * docs/spec/decisions.md, Settle).
 */
export type Status = z.infer<typeof SettlementStatus>;
/** How far its transaction is on the chain. */
export type ChainStatus = z.infer<typeof ChainStatusShape>;
/**
 * The events: those of chain-submitter, the vendor's redeem and consume, the end of the window, the
 * confirmation that the success of an x402 payment was sent, and the reissue of one whose vendor
 * did not deliver; and of an authorization the vendor's use, the payer's extension, its capture and
 * its void.
 */
export type Event =
  | 'signed'
  | 'confirmed'
  | 'finalized'
  | 'failed'
  | 'reopened'
  | 'redeem'
  | 'consume'
  | 'elapse'
  | 'sent'
  | 'reissue'
  | 'use'
  | 'extend'
  | 'capture'
  | 'void';

/**
 * A payment that is confirmed issues the settlement. `failed` after `confirmed` means reversed on
 * chain for good: a settlement that was not redeemed fails, a redeemed one stays.
 */
export const statuses = stateMachine<Status, Event>({
  pending: { confirmed: 'issued', finalized: 'issued', failed: 'failed' },
  authorized: { use: 'authorized', extend: 'authorized', capture: 'capturing', void: 'voided' },
  capturing: { confirmed: 'redeemed', finalized: 'redeemed', failed: 'failed' },
  issued: {
    confirmed: 'issued',
    finalized: 'issued',
    reopened: 'issued',
    failed: 'failed',
    redeem: 'redeemed',
    consume: 'redeemed',
    elapse: 'expired',
    sent: 'redeemed',
  },
  redeemed: {
    confirmed: 'redeemed',
    finalized: 'redeemed',
    reopened: 'redeemed',
    failed: 'redeemed',
    consume: 'redeemed',
    reissue: 'issued',
  },
  expired: { confirmed: 'expired', finalized: 'expired', reopened: 'expired', failed: 'failed' },
  voided: {},
  failed: {},
});

/**
 * The chain status has separate transitions. A payment that a fork removed is not confirmed, so it
 * cannot be redeemed (docs/spec/decisions.md, Redeem: before confirmation 409): a vendor must not
 * deliver for a payment that may never be included again. Its window is extended by that time. A
 * success that was sent before the fork is recorded all the same: the vendor has delivered.
 */
export const chainStatuses = stateMachine<ChainStatus, Event>({
  pending: { confirmed: 'confirmed', finalized: 'finalized', failed: 'failed', sent: 'pending' },
  confirmed: {
    finalized: 'finalized',
    reopened: 'pending',
    failed: 'failed',
    redeem: 'confirmed',
    consume: 'confirmed',
    elapse: 'confirmed',
    sent: 'confirmed',
    reissue: 'confirmed',
  },
  finalized: {
    redeem: 'finalized',
    consume: 'finalized',
    elapse: 'finalized',
    sent: 'finalized',
    reissue: 'finalized',
  },
  none: { use: 'none', extend: 'none', capture: 'pending', void: 'none' },
  failed: {},
});

/** Whether the payment is on the chain. Only such a payment can be refunded or consumed. */
export const isPaid = (chain: ChainStatus): boolean => chain === 'confirmed' || chain === 'finalized';

type State = { status: Status; chain: ChainStatus };

/**
 * The state after an event: a transition of both tables. Null where either has none (a repeated or
 * overtaken event). The statements of the store have the same guard (../store/conditions.ts).
 */
export const next = (state: State, event: Event): State | null => {
  const status = statuses.next(state.status, event);
  const chain = chainStatuses.next(state.chain, event);
  return status === null || chain === null ? null : { status, chain };
};

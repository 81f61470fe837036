import type { Input } from '../../../../sdk/src/main.ts';
import { beginOf } from '../../lib/day.ts';
import { SERVICE_ID } from '../delegates/delegate-form.ts';

/**
 * The filters of the list. They are in the URL, so that a link or the back button shows the same
 * list.
 */

type Query = NonNullable<Input<'wallet.listTransactions'>>;
export type Filters = Record<(typeof NAMES)[number], string>;

export const NAMES = ['find', 'type', 'direction', 'status', 'service', 'delegate', 'from', 'to'] as const;
export const TYPES = [
  ['payment', 'Payments'],
  ['deposit', 'Deposits'],
  ['withdrawal', 'Withdrawals'],
  ['refund', 'Refunds'],
  ['dev_fund', 'Test money'],
] as const;
export const DIRECTIONS = [
  ['in', 'In'],
  ['out', 'Out'],
] as const;
export const STATUSES = [
  ['confirmed', 'Confirmed'],
  ['finalized', 'Final'],
  ['reversed', 'Reversed'],
] as const;
/** A signature on chain, in base58. */
const TX_HASH = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const OBJECT_ID = /^[A-Za-z0-9_-]{1,64}$/;
const DELEGATE_ID = /^del_[0-9a-z]{26}$/;

const oneOf = <T extends string>(choices: readonly (readonly [T, string])[], value: string): T | undefined =>
  choices.find(([each]) => each === value)?.[0];

/**
 * The filters as a query of the API. Days are whole days, the last one included. The URL may
 * contain anything, so unknown values are ignored.
 */
export const queryOf = ({ find, type, direction, status, service, delegate, from, to }: Filters): Query => {
  const sought = find.trim();
  const isHash = TX_HASH.test(sought);
  const query = {
    tx_hash: isHash ? sought : undefined,
    object_id: !isHash && OBJECT_ID.test(sought) ? sought : undefined,
    type: oneOf(TYPES, type),
    direction: oneOf(DIRECTIONS, direction),
    status: oneOf(STATUSES, status),
    service_id: SERVICE_ID.test(service) ? service : undefined,
    delegate_id: DELEGATE_ID.test(delegate) ? delegate : undefined,
    from: beginOf(from),
    to: beginOf(to, 1),
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
};

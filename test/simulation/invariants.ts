import { tokenAccountOf } from '../../services/chain-submitter/chain/addresses.ts';
import { intents } from '../../services/chain-submitter/ledger/model/state.ts';
import { COUNTED_CAPS } from '../../shared/contract/limits.ts';
import { untrueRefusals } from '../support/rules/refusals.ts';
import { actors } from './actors.ts';
import type { Chain } from './chain.ts';
import type { Clients } from './clients.ts';
import { EPOCH } from './database.ts';
import type { FundingTables, Refund } from './funding-tables.ts';
import { require } from './harness.ts';
import { isToOthers } from './outgoing-chain.ts';
import type { Vendor } from './refunds.ts';
import { acceptancesOf, limitsOf, type Settlement } from './settlement-rows.ts';
import type { SettlementTables } from './settlement-tables.ts';
import { requestOf } from './submitter-rows.ts';
import type { SubmitterTables } from './submitter-tables.ts';

export type Judged = {
  chain: Chain;
  clients: Clients;
  submitter: SubmitterTables;
  settlement: SettlementTables;
  funding: FundingTables;
  vendor: Vendor;
  /** The settlements that the chain has paid to vendors of others. */
  paidOut: () => readonly string[];
  /** Only settles of the services have moved the payers' money. */
  undisturbed: boolean;
  /** Whether a worker has run long enough to sweep. */
  awake: () => boolean;
  now: () => number;
};

/** Whether nothing more happens to a settlement. */
export const isFinal = ({ chain_status, status }: Settlement): boolean =>
  chain_status === 'finalized' || chain_status === 'failed' || status === 'voided';

/** Much longer than the sweeper needs to claim an intent without a lease. */
const RESTS_MS = 15_000;
const LEASE_MS = 15_000;

/** Holds, live generations and signed bytes: they hold between any two steps. */
export const checkStep = (judged: Judged): void => {
  const { chain, clients, submitter, settlement, undisturbed } = judged;
  const held = new Map<string, bigint>();
  /**
   * Holds whose payment is not included. Until its event is handled, the amount of an included
   * payment is both held and spent.
   */
  const unpaid = new Map<string, bigint>();
  const included = new Set<string>();
  for (const { signature, intent_id } of submitter.transactions.values())
    if (chain.find(signature)) included.add(submitter.intents.get(intent_id)!.object_id);
  for (const [signature, id] of submitter.lost) if (chain.find(signature)) included.add(id);
  for (const id of judged.paidOut()) included.add(id);
  for (const { settlement_id, holding, wallet_id, quote_amount } of settlement.settlements.values()) {
    if (!holding) continue;
    held.set(wallet_id, (held.get(wallet_id) ?? 0n) + quote_amount);
    if (!included.has(settlement_id)) unpaid.set(wallet_id, (unpaid.get(wallet_id) ?? 0n) + quote_amount);
  }
  for (const payer of settlement.payers.values()) {
    const sum = held.get(payer.wallet_id) ?? 0n;
    require(payer.held === sum, 'held is the sum of open holds', () => `${payer.held} for ${sum}`);
    if (!undisturbed) continue;
    const tokenAccount = chain.accounts.get(tokenAccountOf(payer.owner, actors.mint))!;
    const open = (unpaid.get(payer.wallet_id) ?? 0n) <= tokenAccount.amount;
    require(open, 'never more held than there is', () => `of ${payer.wallet_id}: ${tokenAccount.amount}`);
  }
  checkDelegates(settlement);
  checkReservations(settlement);
  const live = new Set<string>();
  for (const { intent_id, status, signed_at, wire } of submitter.transactions.values()) {
    if (status === 'live') {
      require(!live.has(intent_id), 'one live generation', () => `two of ${intent_id} may be included`);
      live.add(intent_id);
    }
    // Without bytes it was found under its reference and adopted, not signed.
    if (wire.length === 0) continue;
    const quote = quoteOf(clients, submitter, intent_id);
    require(quote === undefined ||
      signed_at <= quote.signBefore, 'nothing is signed after the deadline of the quote', () =>
      `${intent_id} ${signed_at - (quote?.signBefore ?? 0)} ms after`);
  }
  if (judged.awake()) {
    for (const intent of submitter.intents.values()) {
      if (intents.isTerminal(intent.status)) continue;
      const { worker_id, next_at, object_id } = intent;
      // A lease begins with the claim, whatever the registration of the worker is.
      const leased = Math.max(submitter.workers.get(worker_id ?? '') ?? 0, next_at - LEASE_MS);
      const free = worker_id === null ? next_at : leased;
      const rests = judged.now() - free;
      require(rests < RESTS_MS, 'no open intent is forgotten', () =>
        `${object_id} has no lease for ${rests} ms`);
    }
  }
  const paid = new Set<string>();
  for (const { payment, error } of chain.all()) {
    if (payment.outside !== undefined || isToOthers(payment)) continue;
    require(submitter.transactions.has(payment.signature) ||
      submitter.lost.has(payment.signature), 'no bytes are sent before they are committed', () =>
      `${payment.signature} was included without a record`);
    // A message of another client has one signature, so the chain itself includes it once.
    if (error !== null || payment.reference === null) continue;
    require(!paid.has(payment.reference), 'one payment for a quote', () => `${payment.reference} has two`);
    paid.add(payment.reference);
  }
};

/** The counters of delegates and accounts equal their payments, and never exceed a cap. */
const checkDelegates = ({ settlements, delegates }: SettlementTables): void => {
  const held = new Map<string, bigint>();
  const spent = new Map<string, bigint>();
  for (const row of settlements.values()) {
    const { holding, chain_status, quote_amount } = row;
    const id = limitsOf(row);
    // An extension is a payment of its own here: its owner limits what each quote may cost.
    for (const { micro } of acceptancesOf(row)) {
      const most = delegates.get(id)?.per_payment ?? micro;
      require(micro <= most, 'no payment exceeds the limit of one payment', () =>
        `${id}: ${micro} of ${most}`);
    }
    if (chain_status === 'failed' || row.status === 'voided') continue;
    const counter = holding ? held : spent;
    counter.set(id, (counter.get(id) ?? 0n) + quote_amount);
  }
  for (const delegate of delegates.values()) {
    const { delegate_id: id } = delegate;
    const own = [held.get(id) ?? 0n, spent.get(id) ?? 0n] as const;
    require(delegate.held === own[0] &&
      delegate.spent === own[1], 'counters of a delegate are its payments', () =>
      `${id} has ${delegate.held}/${delegate.spent} for ${own.join('/')}`);
    for (const cap of COUNTED_CAPS.map((name) => delegate[name]))
      require(cap === null || own[0] + own[1] <= cap, 'a delegate stays within its limits', () =>
        `${id}: ${own.join(' + ')} of ${cap}`);
  }
};

const quoteOf = (clients: Clients, submitter: SubmitterTables, intentId: string) => {
  const intent = submitter.intents.get(intentId);
  const token = intent && (requestOf(intent) as { quote_token: string }).quote_token;
  return clients.attempts.find(({ quote }) => quote.token === token)?.quote;
};

/**
 * The faults are over and time has passed: everything is final, and the chain agrees with all
 * records.
 */
export const checkEnd = (judged: Judged): void => {
  checkStep(judged);
  const { chain, submitter, settlement, funding } = judged;
  for (const intent of submitter.intents.values())
    require(intents.isTerminal(intent.status), 'everything ends', () =>
      `${intent.object_id} is ${intent.status}`);
  const paidBy = new Map<string, number>();
  for (const { payment, error } of chain.all()) {
    const { signature } = payment;
    const intentId = submitter.transactions.get(signature)?.intent_id;
    const id = submitter.intents.get(intentId ?? '')?.object_id ?? submitter.lost.get(signature);
    if (error !== null || id === undefined) continue;
    paidBy.set(id, (paidBy.get(id) ?? 0) + 1);
  }
  for (const row of settlement.settlements.values()) {
    const { settlement_id: id, chain_status, status } = row;
    const hasEnded = isFinal(row);
    require(hasEnded, 'everything ends', () => `${id} is ${status}/${chain_status}`);
    const payments = paidBy.get(id) ?? 0;
    if (chain_status === 'finalized')
      require(payments === 1, 'settled means one payment', () => `${id} has ${payments}`);
    else require(payments === 0, 'failed means no payment', () => `${id} failed and has ${payments}`);
  }
  for (const payer of settlement.payers.values())
    require(payer.held === 0n, 'nothing is held at the end', () => `${payer.held} of ${payer.wallet_id}`);
  const left = [submitter, settlement, funding].map(({ outbox }) => outbox.rows.size);
  require(left.every((rows) => rows === 0), 'outboxes are empty at the end', () =>
    `${left.join(', ')} rows are left`);
  checkRefunds(judged);
  checkAnswers(judged);
};

/**
 * Nothing more happens to a refund: it ended and released its reservation, or waits for its vendor.
 */
export const isAtRest = ({ status, isReleased }: Refund): boolean =>
  status === 'finalized' ||
  status === 'pending_signature' ||
  (isReleased && ['failed', 'cancelled', 'expired'].includes(status));

/** The reserved amount is the sum of open reservations, and never more than the net. */
const checkReservations = ({ settlements, reservations }: SettlementTables): void => {
  const reserved = new Map<string, bigint>();
  for (const { settlement_id: id, amount, released } of reservations.values())
    if (id !== null && !released) reserved.set(id, (reserved.get(id) ?? 0n) + amount);
  for (const { settlement_id: id, refund_reserved, quote_amount, fee_amount } of settlements.values()) {
    const sum = reserved.get(id) ?? 0n;
    require(refund_reserved === sum, 'reserved is the sum of open reservations', () =>
      `${id}: ${refund_reserved} for ${sum}`);
    require(sum <= quote_amount - fee_amount, 'never more refunded than the net', () => `${id}: ${sum}`);
  }
};

/** Each refund is on the chain once, or reserves nothing and is not on the chain. */
const checkRefunds = ({ chain, submitter, settlement, funding, vendor }: Judged): void => {
  const paid = new Map<string, bigint>();
  const signedAt = new Map<string, number>();
  /** The refunds that a fork removed: earlier answers about them were true. */
  const forked = new Set<string>();
  for (const { signature, intent_id, signed_at } of submitter.transactions.values()) {
    const { kind, object_id: id } = submitter.intents.get(intent_id)!;
    if (kind !== 'refund') continue;
    signedAt.set(id, signed_at - EPOCH);
    if (chain.rolledBack.has(signature)) forked.add(id);
    const included = chain.find(signature);
    if (included === undefined || included.error !== null) continue;
    require(!paid.has(id), 'a refund is paid once', () => id);
    paid.set(id, included.payment.transfers[0]!.amount);
  }
  for (const refund of funding.refunds.values()) {
    const { refund_id: id, status, amount } = refund;
    require(isAtRest(refund), 'every refund ends', () => `${id} is ${status}`);
    const expected = status === 'finalized' ? amount : undefined;
    require(paid.get(id) === expected, 'a refund is paid when it is final', () =>
      `${id} is ${status}, the chain has ${paid.get(id)} for ${amount}`);
    const released = settlement.reservations.get(id)?.released;
    const holds = status === 'finalized' || status === 'pending_signature';
    require(released === !holds, 'a refund holds what it may still take', () => `${id} is ${status}`);
  }
  const rows = [...signedAt].map(([id, acceptedAt]) => {
    const intent = submitter.intents.get(`refund:${id}`)!;
    const isFailed = intent.status === 'failed';
    const both = { settlementId: id, accountId: actors.vendor.account_id, attemptId: id, quoteId: id };
    return { ...both, acceptedAt, failedAt: isFailed ? 0 : null, paid: !isFailed || forked.has(id) };
  });
  const [found] = untrueRefusals(vendor.refusals, rows);
  require(found === undefined, 'every refusal is true', () =>
    `${found?.refusal.attemptId} at ${found?.refusal.askedAt.toFixed(0)}: ${found?.what}`);
};

/** When a settlement ended without a payment, in virtual time. Null: it did not. */
const endedUnpaidAt = ({ chain_status, progressed_at, voided_at }: Settlement): number | null => {
  if (voided_at !== null) return voided_at - EPOCH;
  return chain_status === 'failed' ? progressed_at : null;
};

/**
 * No refusal denied a payment that its account had made, was making or might still make
 * (test/support/rules/refusals.ts).
 */
const checkRefusals = ({ clients, settlement }: Judged): void => {
  // The money of an extension moves, or not, with its authorization.
  const rows = [...settlement.settlements.values()].flatMap(acceptancesOf).map(({ row, ...one }) => ({
    settlementId: row.settlement_id,
    accountId: row.account_id,
    attemptId: one.payment_attempt_id,
    quoteId: one.quote_id,
    acceptedAt: one.created_at - EPOCH,
    failedAt: endedUnpaidAt(row),
    paid: row.issued_at !== null,
  }));
  const [found] = untrueRefusals(clients.refusals, rows);
  require(found === undefined, 'every refusal is true', () =>
    `${found?.refusal.attemptId} at ${found?.refusal.askedAt.toFixed(0)}: ${found?.what}`);
};

/** What clients were answered still holds. */
const checkAnswers = (judged: Judged): void => {
  checkRefusals(judged);
  const { chain, clients, submitter, settlement } = judged;
  for (const { attemptId, paid, refused, quote } of clients.attempts) {
    if (paid === null) continue;
    const row = settlement.settlements.get(paid.settlement_id);
    require(row !== undefined, 'a 200 has its settlement', () => attemptId);
    // It was authorized. Whether it was paid is its vendor's choice.
    if (quote.hasCeiling) continue;
    const finalized = row!.chain_status === 'finalized';
    // Reversed for good: only a fork may do that (docs/spec/decisions.md, Redeem).
    const forked = [...chain.rolledBack].some((signature) => {
      const intentId = submitter.transactions.get(signature)?.intent_id ?? '';
      const paidFor = submitter.intents.get(intentId)?.object_id ?? submitter.lost.get(signature);
      return paidFor === paid.settlement_id;
    });
    require(finalized || forked, 'a 200 is paid', () => `${attemptId} is ${row!.chain_status}`);
    require(refused === null || !finalized, 'a paid attempt is always answered 200', () =>
      `${attemptId} for ${quote.quoteId} was answered ${refused}`);
  }
};

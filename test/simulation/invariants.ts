import { tokenAccountOf } from '../../services/chain-submitter/addresses.ts';
import { isTerminal, SIGNING_GRACE_MS } from '../../services/chain-submitter/domain/intent.ts';
import type { Chain } from './chain.ts';
import type { Clients } from './clients.ts';
import { parties } from './parties.ts';
import type { SettlementTables } from './settlement-tables.ts';
import type { SubmitterTables } from './submitter-tables.ts';
import { Broken } from './world.ts';

export type Judged = {
  chain: Chain;
  clients: Clients;
  submitter: SubmitterTables;
  settlement: SettlementTables;
  /** Nothing but our own settles has moved the payers' money. */
  undisturbed: boolean;
  /** Some worker has been at work long enough to sweep. */
  awake: () => boolean;
  now: () => number;
};

/** Far more than the sweeper needs to take what is nobody's. */
const RESTS_MS = 15_000;
const LEASE_MS = 15_000;

const require = (met: boolean, invariant: string, detail: () => string): void => {
  if (!met) throw new Broken(invariant, detail());
};

/** Holds, live generations and signed bytes: true between any two steps. */
export const checkStep = (judged: Judged): void => {
  const { chain, clients, submitter, settlement, undisturbed } = judged;
  const held = new Map<string, bigint>();
  /** Of holds whose payment has not landed: until its fact is heard, a landed one is both held and gone. */
  const unpaid = new Map<string, bigint>();
  const landed = new Set<string>();
  for (const { signature, intent_id } of submitter.transactions.values())
    if (chain.find(signature)) landed.add(submitter.intents.get(intent_id)!.object_id);
  for (const [signature, id] of submitter.lost) if (chain.find(signature)) landed.add(id);
  for (const { settlement_id, holding, wallet_id, quote_amount } of settlement.settlements.values()) {
    if (!holding) continue;
    held.set(wallet_id, (held.get(wallet_id) ?? 0n) + quote_amount);
    if (!landed.has(settlement_id)) unpaid.set(wallet_id, (unpaid.get(wallet_id) ?? 0n) + quote_amount);
  }
  for (const payer of settlement.payers.values()) {
    const sum = held.get(payer.wallet_id) ?? 0n;
    require(payer.held === sum, 'held is the sum of open holds', () => `${payer.held} for ${sum}`);
    if (!undisturbed) continue;
    const purse = chain.accounts.get(tokenAccountOf(payer.owner, parties.mint))!;
    const open = (unpaid.get(payer.wallet_id) ?? 0n) <= purse.amount;
    require(open, 'never more held than there is', () => `of ${payer.wallet_id}: ${purse.amount}`);
  }
  const live = new Set<string>();
  for (const { intent_id, status, signed_at, wire } of submitter.transactions.values()) {
    if (status === 'live') {
      require(!live.has(intent_id), 'one live generation', () => `two of ${intent_id} may land`);
      live.add(intent_id);
    }
    // Without bytes it was found under its reference and taken over, not signed.
    if (wire.length === 0) continue;
    const quote = quoteOf(clients, submitter, intent_id);
    require(quote === undefined ||
      signed_at <=
        quote.expiresAt + SIGNING_GRACE_MS, 'nothing is signed 60 s after the quote’s expiry', () =>
      `${intent_id} ${signed_at - (quote?.expiresAt ?? 0)} ms after`);
  }
  if (judged.awake()) {
    for (const intent of submitter.intents.values()) {
      if (isTerminal(intent.status)) continue;
      const { worker_id, next_at, object_id } = intent;
      // A lease begins with the taking, whatever is known of the worker.
      const leased = Math.max(submitter.workers.get(worker_id ?? '') ?? 0, next_at - LEASE_MS);
      const free = worker_id === null ? next_at : leased;
      const rests = judged.now() - free;
      require(rests < RESTS_MS, 'nothing rests unseen', () => `${object_id} is nobody’s for ${rests} ms`);
    }
  }
  const paid = new Set<string>();
  for (const { payment, error } of chain.all()) {
    if (payment.outside !== undefined) continue;
    require(submitter.transactions.has(payment.signature) ||
      submitter.lost.has(payment.signature), 'no bytes leave before they are committed', () =>
      `${payment.signature} has landed and no record knows it`);
    if (error !== null) continue;
    require(!paid.has(payment.reference!), 'one payment for a quote', () => `${payment.reference} has two`);
    paid.add(payment.reference!);
  }
};

const quoteOf = (clients: Clients, submitter: SubmitterTables, intentId: string) => {
  const token = (submitter.intents.get(intentId)?.request as { quote_token: string } | undefined)
    ?.quote_token;
  return clients.attempts.find(({ quote }) => quote.token === token)?.quote;
};

/** Faults are over and time has passed: everything has come to its end, and the chain agrees with all records. */
export const checkEnd = (judged: Judged): void => {
  checkStep(judged);
  const { chain, submitter, settlement } = judged;
  for (const intent of submitter.intents.values())
    require(isTerminal(intent.status), 'everything ends', () => `${intent.object_id} is ${intent.status}`);
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
    require(chain_status === 'finalized' || chain_status === 'failed', 'everything ends', () =>
      `${id} is ${status}/${chain_status}`);
    const payments = paidBy.get(id) ?? 0;
    if (chain_status === 'finalized')
      require(payments === 1, 'settled means one payment', () => `${id} has ${payments}`);
    else require(payments === 0, 'failed means no payment', () => `${id} failed and has ${payments}`);
  }
  for (const payer of settlement.payers.values())
    require(payer.held === 0n, 'nothing is held at the end', () => `${payer.held} of ${payer.wallet_id}`);
  require(submitter.outbox.rows.size === 0 &&
    settlement.outbox.rows.size === 0, 'outboxes are empty at the end', () =>
    `${submitter.outbox.rows.size} and ${settlement.outbox.rows.size} rows are left`);
  checkAnswers(judged);
};

/** What clients were told still holds. */
const checkAnswers = ({ chain, clients, submitter, settlement }: Judged): void => {
  for (const { attemptId, paid, refused, quote } of clients.attempts) {
    if (paid === null) continue;
    const row = settlement.settlements.get(paid.settlement_id);
    require(row !== undefined, 'a 200 has its settlement', () => attemptId);
    const finalized = row!.chain_status === 'finalized';
    // Reversed for good: only a fork may take a payment back (decisions.md, Redeem).
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

import type { IncomingRequest } from '../../services/chain-submitter/transactions/parse-order.ts';
import { type LedgerRow, untrueRefusals } from '../support/rules/refusals.ts';
import type { Chain } from './chain.ts';
import { EPOCH } from './database.ts';
import { require } from './harness.ts';
import type { IncomingClients } from './incoming-clients.ts';
import type { IncomingSettlement, IncomingTables } from './incoming-tables.ts';
import type { SettlementTables } from './settlement-tables.ts';
import type { SubmitterTables } from './submitter-tables.ts';

export type JudgedIncoming = {
  chain: Chain;
  tables: IncomingTables;
  clients: IncomingClients;
  submitter: SubmitterTables;
  settlement: SettlementTables;
  creditMicro: bigint;
  /** The sources whose owners have not spent elsewhere, in a run without forks. */
  isUndisturbed: (source: string) => boolean;
};

/** Fees and failures: they hold between any two steps. */
export const checkIncomingStep = (judged: JudgedIncoming): void => {
  checkFees(judged);
  checkSources(judged);
};

/** What a vendor owes is the sum of its payments' fees, and never more than its credit. */
const checkFees = ({ tables, settlement, creditMicro }: JudgedIncoming): void => {
  const sums = new Map<string, bigint>();
  for (const { vendor_account_id: id, accrued_fee } of tables.rows())
    sums.set(id!, (sums.get(id!) ?? 0n) + accrued_fee);
  for (const [id, { accrued }] of settlement.feeAccounts) {
    const sum = sums.get(id) ?? 0n;
    require(accrued === sum, 'accrued is the sum of the fees', () => `${id}: ${accrued} for ${sum}`);
    require(accrued <= creditMicro, 'a vendor stays within its credit', () => `${id}: ${accrued}`);
  }
};

/**
 * A payment is signed only within the balance of its source, so that its owner alone makes it fail.
 */
const checkSources = ({ chain, submitter, isUndisturbed }: JudgedIncoming): void => {
  for (const { payment, error } of chain.all()) {
    if (error === null) continue;
    const intent = submitter.intents.get(submitter.transactions.get(payment.signature)?.intent_id ?? '');
    if (intent?.kind !== 'incoming') continue;
    const { source_account: source } = intent.request as IncomingRequest;
    require(!isUndisturbed(source), 'a payment that is signed is covered', () =>
      `${intent.object_id} failed`);
  }
};

/** The faults are over: every answer agrees with the records, and these with the chain. */
export const checkIncomingEnd = (judged: JudgedIncoming): void => {
  checkIncomingStep(judged);
  const { chain, submitter, tables } = judged;
  const included = new Map<string, { succeeded: number; failed: number; forked: boolean }>();
  const signatures = [
    ...[...submitter.transactions.values()].map(({ signature, intent_id }) => ({
      signature,
      id: submitter.intents.get(intent_id)!.object_id,
    })),
    ...[...submitter.lost].map(([signature, id]) => ({ signature, id })),
  ];
  const seen = new Set<string>();
  for (const { signature, id } of signatures) {
    if (seen.has(signature)) continue;
    seen.add(signature);
    const on = included.get(id) ?? { succeeded: 0, failed: 0, forked: false };
    const found = chain.find(signature);
    if (found !== undefined) on[found.error === null ? 'succeeded' : 'failed'] += 1;
    on.forked ||= chain.rolledBack.has(signature);
    included.set(id, on);
  }
  const onChain = (row: IncomingSettlement) =>
    included.get(row.settlement_id) ?? { succeeded: 0, failed: 0, forked: false };
  for (const row of tables.rows()) {
    const { failed } = onChain(row);
    const owed = row.chain_status === 'failed' && failed === 0 ? 0n : row.first_fee;
    require(row.accrued_fee === owed, 'a fee is kept unless nothing was included', () =>
      `${row.settlement_id} ${row.chain_status}: ${row.accrued_fee} of ${row.first_fee}`);
  }
  checkDeliveries(judged, onChain);
  checkIncomingRefusals(judged);
  checkSales(judged, onChain);
};

type OnChain = (row: IncomingSettlement) => { succeeded: number; failed: number; forked: boolean };

/** A success is heard once, and is paid unless a fork removed it for good. */
const checkDeliveries = ({ tables, clients }: JudgedIncoming, onChain: OnChain): void => {
  const rows = new Map(tables.rows().map((row) => [row.settlement_id, row]));
  const last = new Map<string, IncomingClients['deliveries'][number]>();
  for (const delivery of clients.deliveries) {
    const { settlementId: id } = delivery;
    const before = last.get(id);
    const isReissued = tables.reissues.get(id)?.ids.includes(before?.id ?? '') === true;
    // The answer of a process that was stopped may come after that of a later hand-out.
    const isFirst = before === undefined || before.isExcused || delivery.isLate;
    require(isFirst || isReissued, 'a success is handed out once', () =>
      `${id}: ${before?.id} and ${delivery.id}`);
    last.set(id, delivery);
    const row = rows.get(id);
    require(row !== undefined, 'a success has its settlement', () => id);
    const { succeeded, forked } = onChain(row!);
    require(succeeded > 0 || forked, 'a success is paid', () => `${id} is ${row!.chain_status}`);
  }
  for (const row of rows.values()) {
    // A call of a vendor that was not answered may have redeemed by its own id.
    if (row.status !== 'redeemed' || !tables.handOuts.has(row.redeem_id!)) continue;
    const heard = last.get(row.settlement_id);
    const since = tables.reissues.get(row.settlement_id)?.at ?? 0;
    require(heard !== undefined && heard.at > since, 'a redeemed success was heard', () =>
      `${row.settlement_id} is redeemed by ${row.redeem_id}, last heard: ${heard?.id}`);
  }
};

/** No answer denied a payment that was made, was under way or was accepted by an earlier call. */
const checkIncomingRefusals = ({ tables, clients }: JudgedIncoming): void => {
  const ledger = tables.rows().map((row): LedgerRow => {
    const { settlement_id, vendor_account_id, message_hash } = row;
    return {
      settlementId: settlement_id,
      accountId: vendor_account_id!,
      ...{ attemptId: message_hash, quoteId: message_hash },
      acceptedAt: row.created_at - EPOCH,
      failedAt: row.chain_status === 'failed' ? row.progressed_at : null,
      paid: row.issued_at !== null,
    };
  });
  const [found] = untrueRefusals(clients.refusals, ledger);
  require(found === undefined, 'every refusal is true', () =>
    `${found?.refusal.attemptId} at ${found?.refusal.askedAt.toFixed(0)}: ${found?.what}`);
};

/** A buyer that signs again only when told that no money moved pays once. */
const checkSales = ({ tables, clients }: JudgedIncoming, onChain: OnChain): void => {
  for (const { name, messages } of clients.sales) {
    const paid = tables
      .rows()
      .filter(({ message_hash }) => messages.some(({ hash }) => hash === message_hash))
      .filter((row) => onChain(row).succeeded > 0);
    require(paid.length <= 1, 'a purchase is paid once', () => `${name} by ${paid.length} messages`);
  }
};

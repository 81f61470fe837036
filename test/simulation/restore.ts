import { disassemble, hashMessage } from '../../shared/lib/chain/wire-transaction.ts';
import type { Chain } from './chain.ts';
import type { Harness } from './harness.ts';
import type { IncomingTables } from './incoming-tables.ts';
import { isToOthers } from './outgoing-chain.ts';
import type { LostOutgoing } from './outgoing-settlement.ts';
import type { SettlementReplica, Submitter } from './processes.ts';
import type { SettlementTables } from './settlement-tables.ts';
import type { SubmitterTables } from './submitter-tables.ts';

type Tables = { chain: Chain; submitter: SubmitterTables; settlement: SettlementTables };

/**
 * chain-submitter's database is restored to an earlier state: it loses intents whose payments are
 * final or can never be included, and settlement will ask about them again. Bytes that were sent
 * and may still be included cannot be queried. An operator waits for their end before a restore
 * (docs/faults.md), and records it. Of outgoing payments settlement's database loses its row too.
 * Those whose message settlement knows are adopted by it, which suites of chain-submitter test.
 */
export const restore = (
  harness: Harness,
  {
    submitters,
    replicas,
    incoming,
    onLost,
    ...tables
  }: Tables & {
    submitters: readonly Submitter[];
    replicas: readonly SettlementReplica[];
    incoming: IncomingTables;
    onLost: (lost: LostOutgoing) => void;
  },
): void => {
  harness.changeOutside();
  for (const { process } of submitters) harness.crash(process);
  loseIncoming(harness, tables, ['settle']);
  // The seeds of other mutations have the same events as without these losses.
  const isNeeded = harness.off === null || harness.off.endsWith('search after a restore');
  if (!isNeeded) return;
  // A database is restored while no service is connected, so that no replica acts on what it read
  // before.
  const crashReplicas = () => {
    for (const { process } of replicas) harness.crash(process);
  };
  if (loseIncoming(harness, tables, ['incoming']) > 0) {
    crashReplicas();
    incoming.recordRestore(harness.now());
  }
  const outgoing = loseOutgoing(harness, tables);
  if (outgoing.length === 0) return;
  crashReplicas();
  tables.settlement.outgoing.recordRestore(harness.now());
  for (const lost of outgoing) onLost(lost);
};

/** Payments to our vendors. @returns how many are lost */
const loseIncoming = (
  harness: Harness,
  { submitter, settlement, chain }: Tables,
  kinds: readonly string[],
): number => {
  let count = 0;
  for (const { intent_id, object_id, kind } of [...submitter.intents.values()]) {
    if (!kinds.includes(kind)) continue;
    // A forged job has no settlement.
    const asked = settlement.settlements.get(object_id)?.chain_status;
    const bytes = [...submitter.transactions.values()].filter((one) => one.intent_id === intent_id);
    const decided = bytes.every(({ signature, wire }) => chain.isFinal(signature) || chain.isDead(wire));
    if (bytes.length === 0 || !decided || asked === 'finalized' || asked === 'failed') continue;
    harness.trace('intents', `${object_id}: its rows are lost`);
    count += 1;
    submitter.intents.delete(intent_id);
    submitter.announced.forget(object_id);
    for (const { signature } of bytes) {
      submitter.transactions.delete(signature);
      submitter.lost.set(signature, object_id);
    }
  }
  return count;
};

/**
 * Paid ones, whose attempt the chain proves. That of a vendor with a memo of its own is for an
 * operator, and an approval has its payment.
 */
const loseOutgoing = (harness: Harness, { submitter, settlement, chain }: Tables): LostOutgoing[] => {
  const lost: LostOutgoing[] = [];
  for (const { payment, error } of chain.all()) {
    const { signature, wire } = payment;
    if (!isToOthers(payment) || error !== null || !chain.isFinal(signature)) continue;
    const hash = hashMessage(disassemble(wire).message);
    const id = submitter.outgoing.settlementOf(hash);
    const row = id === null ? null : settlement.outgoing.lose(id);
    if (id === null || row === null) continue;
    submitter.outgoing.lose(hash);
    submitter.lost.set(signature, id);
    harness.trace('intents', `${id}: its rows are lost, and those of settlement`);
    lost.push(row);
  }
  return lost;
};

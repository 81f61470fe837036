import { disassemble, hashMessage } from '../../shared/lib/chain/wire-transaction.ts';
import { untrueRefusals } from '../support/rules/refusals.ts';
import type { Chain, Included } from './chain.ts';
import { Broken, require } from './harness.ts';
import type { Outgoing } from './outgoing.ts';
import { isToOthers } from './outgoing-chain.ts';
import { isOutgoing, type LostOutgoing, type OutgoingRow } from './outgoing-settlement.ts';
import type { SettlementTables } from './settlement-tables.ts';
import type { SubmitterTables } from './submitter-tables.ts';

/** What must hold of outgoing payments. */
export const createOutgoingInvariants = ({
  chain,
  settlement,
  submitter,
  outgoing,
}: {
  chain: Chain;
  settlement: SettlementTables;
  submitter: SubmitterTables;
  outgoing: Outgoing;
}) => {
  const { messages, settlementOf } = submitter.outgoing;
  const hashes = new Map<string, string>();
  /** Messages that the chain ever had, and rows whose failure was compared with the chain. */
  const everIncluded = new Set<string>();
  const judged = new Set<string>();
  /** By message. */
  const lost = new Map<string, LostOutgoing>();

  const hashOf = ({ payment: { signature, wire } }: Included): string => {
    const known = hashes.get(signature) ?? hashMessage(disassemble(wire).message);
    hashes.set(signature, known);
    return known;
  };
  /** The transactions of vendors of others. */
  const included = (): Included[] => [...chain.all()].filter(({ payment }) => isToOthers(payment));
  const rows = (): OutgoingRow[] => [...settlement.settlements.values()].filter(isOutgoing);

  const isOf = (row: OutgoingRow, { accountId, attemptId }: LostOutgoing): boolean =>
    row.account_id === accountId && row.payment_attempt_id === attemptId;

  /** The settlement of a message. That of a lost one is the new one of its attempt. */
  const paidFor = (hash: string): string | null => {
    const of = lost.get(hash);
    if (of === undefined) return settlementOf(hash);
    return rows().find((row) => isOf(row, of))?.settlement_id ?? null;
  };

  /** The message of a row. That of a lost attempt is known before a call has answered it again. */
  const messageOf = (row: OutgoingRow): string | null =>
    row.message_hash ?? [...lost.values()].find((one) => isOf(row, one))?.hash ?? null;

  /** Nothing can use the bytes any more: their blockhash is over, or the chain refused them. */
  const isProven = (hash: string): boolean => {
    const bytes = [...messages.values()].find(({ message_hash }) => message_hash === hash);
    const refused = included().some((one) => one.error !== null && hashOf(one) === hash);
    return refused || (bytes !== undefined && chain.isDead(bytes.wire));
  };

  const checkStep = (): void => {
    if (messages.size === 0) return;
    const paid = new Set<string>();
    for (const one of included()) {
      if (one.error !== null) continue;
      const hash = hashOf(one);
      everIncluded.add(hash);
      const id = paidFor(hash);
      const row = settlement.settlements.get(id ?? '');
      // Nobody has called for it since its records were lost.
      if (lost.has(hash) && row === undefined) continue;
      require(row !== undefined && isOutgoing(row), 'bytes of an outgoing payment are recorded first', () =>
        one.payment.signature);
      const { message_hash, chain_status } = row as OutgoingRow;
      require(message_hash !== null || lost.has(hash), 'bytes are handed out after their record', () => id!);
      require(!paid.has(id!), 'an outgoing attempt is paid once', () => id!);
      paid.add(id!);
      require(chain_status !== 'failed', 'no money moved is true for ever', () => `${id} is on the chain`);
    }
    for (const row of rows()) {
      const { settlement_id: id, chain_status, holding } = row;
      const hash = messageOf(row);
      const isPaid = chain_status === 'confirmed' || chain_status === 'finalized';
      if (isPaid)
        require(hash !== null && everIncluded.has(hash), 'confirmed means that it was included', () => id);
      if (!holding) require(isPaid || chain_status === 'failed', 'an open payment holds', () => id);
      if (chain_status !== 'failed' || judged.has(id)) continue;
      judged.add(id);
      require(hash === null || isProven(hash), 'a hold ends with a proof', () => `${id} has failed`);
    }
  };

  const checkRefusals = (): void => {
    const known = rows().map((row) => {
      const { account_id: accountId, payment_attempt_id: attemptId, settlement_id: settlementId } = row;
      const ids = { accountId, attemptId, settlementId, quoteId: attemptId };
      const failedAt = row.chain_status === 'failed' ? row.progressed_at : null;
      // Bytes that nobody has cannot be used, so no money moves before they may be handed out.
      const acceptedAt = row.handedOutAt ?? Number.POSITIVE_INFINITY;
      return { ...ids, acceptedAt, failedAt, paid: row.issued_at !== null };
    });
    const before = [...lost.values()].map(({ hash: _, ...ids }) => ({
      ...{ ...ids, quoteId: ids.attemptId, failedAt: null, paid: true },
    }));
    const [found] = untrueRefusals(outgoing.refusals, [...known, ...before]);
    require(found === undefined, 'every refusal is true', () =>
      `${found?.refusal.attemptId} at ${found?.refusal.askedAt.toFixed(0)}: ${found?.what}`);
  };

  return {
    checkStep,
    onLost: (one: LostOutgoing): void => void lost.set(one.hash, one),
    /** The settlements whose payment the chain has, whether or not that is recorded. */
    paid: (): string[] =>
      included().flatMap((one) => (one.error === null ? (paidFor(hashOf(one)) ?? []) : [])),
    checkEnd: (): void => {
      const onChain = new Set(included().flatMap((one) => (one.error === null ? hashOf(one) : [])));
      for (const row of rows()) {
        const { settlement_id: id, chain_status: status } = row;
        const hash = messageOf(row);
        const isOnChain = hash !== null && onChain.has(hash);
        require(isOnChain ===
          (status === 'finalized'), 'an outgoing payment is final when it is on the chain', () =>
          `${id} is ${status}`);
      }
      for (const { settlementId, attemptId } of outgoing.confirmed) {
        const row = settlement.settlements.get(settlementId) as OutgoingRow | undefined;
        // Its records are lost, and the chain has it.
        if (row === undefined && [...lost.values()].some((one) => one.settlementId === settlementId))
          continue;
        if (row === undefined) throw new Broken('what was called confirmed has its settlement', attemptId);
        const forked = [...chain.rolledBack].some((signature) => hashes.get(signature) === row.message_hash);
        require(row.chain_status === 'finalized' || forked, 'what was called confirmed is paid', () =>
          `${attemptId} is ${row.chain_status}`);
      }
      checkRefusals();
    },
  };
};

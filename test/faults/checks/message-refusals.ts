import { type LedgerRow, ofMessage, type Refusal, untrueRefusals } from '../../support/rules/refusals.ts';
import type { SettlementRow } from './final-records.ts';

/** What a vendor was told about a signed message. */
export type MessageRefusal = { hash: string } & Pick<Refusal, 'askedAt' | 'at' | 'code' | 'moneyMoved'>;

const OF_VENDORS = { accountId: 'the vendors' };

/**
 * What vendors were told about payments that the final records prove untrue: no answer says that no
 * money moved while the message has a settlement that has not failed.
 */
export const untrueAboutMessages = (
  said: readonly MessageRefusal[],
  settlements: Iterable<SettlementRow>,
): string[] => {
  const ledger = [...settlements].map(
    (row): LedgerRow => ({
      ...OF_VENDORS,
      settlementId: row.settlement_id,
      attemptId: row.message_hash,
      quoteId: row.message_hash,
      acceptedAt: row.accepted_at.getTime(),
      failedAt: row.status === 'failed' ? row.progressed_at.getTime() : null,
      paid: row.issued_at !== null,
    }),
  );
  const refusals = said.map(({ hash, ...answer }) => ofMessage({ ...OF_VENDORS, hash }, answer));
  return untrueRefusals(refusals, ledger).map(({ refusal, what }) => `${refusal.attemptId}: ${what}`);
};

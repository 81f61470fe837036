import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { SigningKey } from '../../../shared/lib/tokens/keys.ts';
import { signReceipt } from '../../../shared/lib/tokens/receipt.ts';
import { getPayerAddresses } from '../payers/store.ts';
import { findSettlementInScope, type SettlementRow } from '../record/store/settlements.ts';
import { isConfirmed, scopeOf } from '../record/view.ts';
import { claimsOf, type Issuer, type Refunds } from './view.ts';

export type ReceiptDeps = {
  pool: Pool;
  clock: Clock;
  signingKey: SigningKey;
  receiptIssuer: Issuer;
  /** @throws ServiceError service_unavailable; a receipt without its refunds would be wrong */
  listConfirmedRefunds: (settlement: { settlement_id: string }) => Promise<Refunds>;
};

const withoutReceipt = (status: SettlementRow['status']): string =>
  status === 'failed' || status === 'voided'
    ? 'the payment failed or was voided, so it has no receipt; no money moved'
    : 'a receipt exists once the payment is confirmed; wait for it and repeat the call';

/**
 * The receipt of a settlement as it is now, with the address of its page.
 * @throws ServiceError conflict for a payment that is not confirmed
 */
export const makeReceipt = async (
  { pool, clock, signingKey, receiptIssuer, listConfirmedRefunds }: ReceiptDeps,
  row: SettlementRow,
) => {
  if (!isConfirmed(row)) throw conflict(withoutReceipt(row.status));
  const [payer] = await getPayerAddresses(pool, [row]);
  const refunds = await listConfirmedRefunds({ settlement_id: row.settlement_id });
  const claims = claimsOf(row, refunds, { payer: payer!, now: clock(), issuer: receiptIssuer });
  const receipt = await signReceipt(claims, signingKey);
  return { receipt, receipt_url: `${receiptIssuer.iss}/receipt#${receipt}`, claims };
};

/** GET /v1/settlements/:settlement_id/receipt. */
export const getReceipt =
  (deps: ReceiptDeps): Handler<typeof settlement.operations.getReceipt> =>
  async ({ settlement_id }, caller) => {
    const row = await findSettlementInScope(deps.pool, scopeOf(caller), settlement_id);
    if (row === null) throw notFound('settlement');
    return makeReceipt(deps, row);
  };

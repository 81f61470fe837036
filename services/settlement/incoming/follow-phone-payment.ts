import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { pageHandleOf } from '../../../shared/lib/page-handle.ts';
import { findByPageHandle } from '../record/store/incoming/signs-last.ts';
import { type FindReceiptDeps, findReceipt } from './find-receipt.ts';

/** POST /v1/payment-links/phone-payments: the payment by a code, for the page that shows it. */
export const followPhonePayment =
  (deps: FindReceiptDeps): Handler<typeof settlement.operations.followPhonePayment> =>
  async ({ payment_link_id: paymentLinkId, secret }) => {
    const handle = pageHandleOf(secret, paymentLinkId);
    const row = await findByPageHandle(deps.pool, { handle, paymentLinkId });
    if (row === null) return { status: 'waiting' };
    const { settlement_id, status, chain_status, tx_hash } = row;
    if (status === 'failed') return { status };
    if (chain_status === 'pending') return { status: 'pending' };
    const receipt_url = await findReceipt(deps, settlement_id);
    return { settlement_id, status: 'confirmed', tx_hash: tx_hash!, receipt_url };
  };

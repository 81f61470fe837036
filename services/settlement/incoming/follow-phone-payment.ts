import { createHash } from 'node:crypto';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { findByPhoneHandle } from '../settlements/store/signs-last.ts';
import { type FindReceiptDeps, findReceipt } from './find-receipt.ts';

/** POST /v1/payment-links/phone-payments: the payment of a code, for the page that shows it. */
export const followPhonePayment =
  (deps: FindReceiptDeps): Handler<typeof settlement.operations.followPhonePayment> =>
  async ({ secret }) => {
    const handle = createHash('sha256').update(secret).digest('base64url');
    const row = await findByPhoneHandle(deps.pool, handle);
    if (row === null) return { status: 'waiting' };
    const { settlement_id, status, chain_status, tx_hash } = row;
    if (status === 'failed') return { status };
    if (chain_status === 'pending') return { status: 'pending' };
    const receipt_url = await findReceipt(deps, settlement_id);
    return { settlement_id, status: 'confirmed', tx_hash: tx_hash!, receipt_url };
  };

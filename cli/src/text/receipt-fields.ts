import type { Receipt } from '../../../sdk/src/pay/main.ts';

/** A receipt in JSON that is printed, with the names of the API's fields. */
export const receiptFields = (receipt: Receipt) => ({
  settlement_id: receipt.settlementId,
  rail: receipt.rail,
  /** USDC micro-units. */
  amount: receipt.amountMicro,
  payees: receipt.payees,
  payee_name: receipt.vendorName,
  tx_hash: receipt.transaction,
  confirmed: receipt.confirmed,
  /** Set if the amount is a ceiling, of which the vendor captures what was used. */
  ...(receipt.authorized === true && { authorized: true }),
});

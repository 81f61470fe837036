import { getReceipt, type ReceiptDeps } from './get-receipt.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const receiptOperations = (deps: ReceiptDeps) => ({ getReceipt: getReceipt(deps) });

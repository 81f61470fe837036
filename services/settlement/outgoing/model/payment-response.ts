import { z } from 'zod';
import { TransactionHash } from '../../../../shared/contract/primitives.ts';

const Response = z.union([
  z.object({ transaction: TransactionHash }).transform(({ transaction }) => transaction),
  // A receipt of MPP.
  z.object({ reference: TransactionHash }).transform(({ reference }) => reference),
]);

/**
 * The transaction that a vendor's PAYMENT-RESPONSE or Payment-Receipt names, or null. It is the
 * vendor's word: the message of the transaction decides whether it is the payment.
 */
export const transactionOf = (paymentResponse: string): string | null => {
  try {
    const parsed = Response.safeParse(JSON.parse(Buffer.from(paymentResponse, 'base64').toString()));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};

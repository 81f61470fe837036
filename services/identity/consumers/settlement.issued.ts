import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Payment } from '../store/payments.ts';

/** What is mailed of and counted; nothing of a fact from before it told the payment. */
export const issued = (fact: z.infer<typeof settlement.events.issued>): Payment[] => {
  if (!('account_id' in fact)) return [];
  const { quote_amount, fee_amount, ...payment } = fact;
  return [{ ...payment, quoteMicro: parseMicro(quote_amount), feeMicro: parseMicro(fee_amount) }];
};

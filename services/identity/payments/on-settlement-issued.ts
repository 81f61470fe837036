import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Payment } from './store.ts';

/** The payment of an event, which is counted and mailed. */
export const issued = ({
  quote_amount,
  fee_amount,
  pay_to = null,
  ...payment
}: z.infer<typeof settlement.events.issued>): Payment[] => [
  { ...payment, pay_to, quoteMicro: parseMicro(quote_amount), feeMicro: parseMicro(fee_amount) },
];

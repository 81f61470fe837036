import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Payment } from './store.ts';

/** What is mailed of and counted. */
export const issued = ({
  quote_amount,
  fee_amount,
  ...payment
}: z.infer<typeof settlement.events.issued>): Payment[] => [
  { ...payment, quoteMicro: parseMicro(quote_amount), feeMicro: parseMicro(fee_amount) },
];

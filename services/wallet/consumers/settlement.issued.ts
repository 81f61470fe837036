import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Movement } from '../domain/transaction.ts';
import { movementOfPayment } from '../movements.ts';

/** Nothing of one from before the fact told the payment: the rebuild knows it. */
export const issued = (fact: z.infer<typeof settlement.events.issued>): Movement[] =>
  'account_id' in fact ? [movementOfPayment(fact, 'confirmed')] : [];

import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Movement } from './model/transaction.ts';
import { movementOfPayment } from './movements.ts';

export const issued = (event: z.infer<typeof settlement.events.issued>): Movement[] => [
  movementOfPayment(event, 'confirmed'),
];

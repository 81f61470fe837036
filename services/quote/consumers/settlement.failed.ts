import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { STEP, type Step } from '../domain/quote.ts';

export const failed = ({ quote_id, settlement_id }: z.infer<typeof settlement.events.failed>): Step[] => [
  { quote_id, settlement_id, step: STEP.failed },
];

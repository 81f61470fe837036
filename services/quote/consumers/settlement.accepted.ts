import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { STEP, type Step } from '../domain/quote.ts';

export const accepted = ({ quote_id, settlement_id }: z.infer<typeof settlement.events.accepted>): Step[] => [
  { quote_id, settlement_id, step: STEP.accepted },
];

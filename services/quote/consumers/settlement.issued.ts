import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Transition } from '../domain/quote.ts';

export const issued = ({
  quote_id,
  settlement_id,
}: z.infer<typeof settlement.events.issued>): Transition[] => [{ quote_id, settlement_id, event: 'issued' }];

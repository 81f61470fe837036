import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Transition } from '../domain/quote.ts';

export const failed = ({
  quote_id,
  settlement_id,
}: z.infer<typeof settlement.events.failed>): Transition[] => [{ quote_id, settlement_id, event: 'failed' }];

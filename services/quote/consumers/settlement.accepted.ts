import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { STEP } from '../domain/quote.ts';
import { advanceQuote } from '../store/quotes.ts';

export const accepted =
  ({ pool }: Deps) =>
  async (fact: z.infer<typeof settlement.events.accepted>): Promise<void> => {
    await advanceQuote(pool, fact.quote_id, fact.settlement_id, STEP.accepted);
  };

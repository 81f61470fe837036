import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { notePayment } from '../store/payments.ts';

/**
 * Mails about a payment and about the spending of its day. No poke: agents pay hundreds of times a minute, so these
 * mails wait for the sweep of a second, and leave the way free for a mail that somebody waits for.
 */
export const issued =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (fact: z.infer<typeof settlement.events.issued>): Promise<void> => {
    if (!('account_id' in fact)) return;
    const { quote_amount, fee_amount, ...payment } = fact;
    await notePayment(pool, {
      ...payment,
      quoteMicro: parseMicro(quote_amount),
      feeMicro: parseMicro(fee_amount),
    });
  };

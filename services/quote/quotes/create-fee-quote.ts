import { PLATFORM_ACCOUNT_ID, PLATFORM_SERVICE_ID } from '../../../shared/contract/platform.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { newQuote, type QuoteSigner, showNewQuote } from './new-quote.ts';
import { insertQuotes } from './store.ts';

const LIFETIME_MS = 600_000;
const REDEEM_WINDOW_SECONDS = 900;

/**
 * int.quote.createFeeQuote. The platform takes no fee of its own fees. The scope names the account
 * that owes them, so they count for it whoever pays.
 */
export const createFeeQuote =
  (deps: { pool: Pool; clock: Clock } & QuoteSigner): Handler<typeof quote.internal.createFeeQuote> =>
  async ({ account_id, amount, payout_address }) => {
    const service = {
      account_id: PLATFORM_ACCOUNT_ID,
      service_id: PLATFORM_SERVICE_ID,
      name: 'Quittance fees',
      payout_address,
      domain: null,
    };
    const now = deps.clock();
    const terms = {
      quote_amount: parseMicro(amount),
      fee_amount: 0n,
      redeem_window_seconds: REDEEM_WINDOW_SECONDS,
      created_at: now,
      expires_at: now + LIFETIME_MS,
    };
    const row = newQuote(deps, service, terms, { scope: { account_id } });
    await insertQuotes(deps.pool, [row]);
    return showNewQuote(row);
  };

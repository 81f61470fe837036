import type { z } from 'zod';
import { conflict } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/index.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { owedMicro } from './model.ts';
import { getFeeAccount } from './store.ts';

type Quote = z.infer<(typeof quote.internal.createFeeQuote)['output']>;

/** POST /v1/accounts/me/fee-quote. */
export const createFeeQuote =
  ({
    pool,
    feeWallet,
    quoteFees,
  }: {
    pool: Pool;
    feeWallet: string;
    quoteFees: (fees: { account_id: string; amount: string; payout_address: string }) => Promise<Quote>;
  }): Handler<typeof settlement.operations.createFeeQuote> =>
  async (_input, { account_id }) => {
    const owed = owedMicro(await getFeeAccount(pool, account_id));
    if (owed === 0n) throw conflict('the account owes no fees');
    return quoteFees({ account_id, amount: formatMicro(owed), payout_address: feeWallet });
  };

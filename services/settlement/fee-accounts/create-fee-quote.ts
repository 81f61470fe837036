import type { Records } from '../../../shared/boot.ts';
import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import type { ServiceTerms } from '../terms.ts';
import { owedMicro } from './model.ts';
import { getFeeAccount } from './store.ts';

/** POST /v1/accounts/me/fee-quote. */
export const createFeeQuote =
  ({
    pool,
    feeWallet,
    quoteFees,
  }: Pick<Records, 'pool'> & Pick<ServiceTerms, 'feeWallet'> & Pick<Peers, 'quoteFees'>): Handler<
    typeof settlement.operations.createFeeQuote
  > =>
  async (_input, { account_id }) => {
    const owed = owedMicro(await getFeeAccount(pool, account_id));
    if (owed === 0n) throw conflict('the account owes no fees');
    return quoteFees({ account_id, amount: formatMicro(owed), payout_address: feeWallet });
  };

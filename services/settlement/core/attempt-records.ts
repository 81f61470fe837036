import { ServiceError } from '../../../shared/contract/errors.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { listPayersAfterAcceptance, type Payer } from '../payers/store.ts';
import type { Peers } from '../peers.ts';
import type { Records } from '../record/model/refusal.ts';
import { mayBeLost } from '../record/store/restores.ts';
import {
  type AttemptRow,
  findAttempt,
  findPayingSettlement,
  type SettlementRow,
} from '../record/store/settlements.ts';
import { type PayingCaller, walletIdOf } from './paying-caller.ts';

/** The records with their rows, and the wallets of the account that have paid or tried to. */
export type RecordsWithRows = Records & {
  /**
   * Records of the time of this quote are lost, and the chain has not proven that nothing was paid.
   */
  mayBeLost: boolean;
  attempt: AttemptRow | null;
  paying: SettlementRow | null;
  payers: readonly Payer[];
};

/** The records of an attempt and its quote, read after every running acceptance of the account. */
export const getRecords = async (
  { pool }: { pool: Pool },
  { caller: { account_id }, payment_attempt_id }: { caller: PayingCaller; payment_attempt_id: string },
  claims: QuoteClaims | null,
): Promise<RecordsWithRows> => {
  const payers = await listPayersAfterAcceptance(pool, account_id);
  const [paying, isLost] = await Promise.all([
    claims === null ? null : findPayingSettlement(pool, account_id, claims.quote_id),
    claims === null ? false : mayBeLost(pool, claims),
  ]);
  // Read after the quote, so that it sees the attempt of what pays the quote.
  const attempt = await findAttempt(pool, account_id, payment_attempt_id);
  return { attempt, paying, mayBeLost: isLost && attempt === null && paying === null, payers };
};

/** What finds a payment whose record a restore may have lost. */
export type LostPaymentFinder = { logger: Logger } & Pick<Peers, 'findWallet' | 'findPayment'>;

/**
 * Queries the chain for a payment whose record a restore may have lost.
 * @returns the wallet of the account that paid the quote; `unknown` when another wallet paid it, or
 * when the chain cannot be queried
 */
export const findLostPayment = async (
  { findWallet, findPayment, logger }: LostPaymentFinder,
  quote_token: string,
  { caller, payers }: { caller: PayingCaller; payers: readonly Payer[] },
): Promise<Payer | 'not paid' | 'unknown'> => {
  const { account_id } = caller;
  try {
    const wallet = await findWallet(account_id, walletIdOf(caller));
    const own = [...payers, ...(wallet === null ? [] : [{ ...wallet, account_id }])];
    const { paid, owner } = await findPayment({ quote_token, owners: own.map((each) => each.owner) });
    if (!paid) return 'not paid';
    return own.find((each) => each.owner === owner) ?? 'unknown';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    logger.warn(
      { err: error },
      'payment not searched on chain: its record may be lost, the chain is unavailable',
    );
    return 'unknown';
  }
};

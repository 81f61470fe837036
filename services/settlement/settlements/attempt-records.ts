import type { z } from 'zod';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import type { FindWallet } from '../payers/payer.ts';
import { type Payer, listPayersAfterAcceptance } from '../payers/store.ts';
import type { Records } from './model/refusal.ts';
import { mayBeLost } from './store/restores.ts';
import { findAttempt, findPayingSettlement, type SettlementRow } from './store/settlements.ts';

type Caller = PrincipalOf<readonly ['jwt', 'delegate_key']>;

/** With the rows, and the wallets of the account that have paid or tried to. */
export type Read = Records & {
  attempt: SettlementRow | null;
  paying: SettlementRow | null;
  payers: readonly Payer[];
};

/** All that the record says of an attempt and its quote, once nothing of the account is being accepted any more. */
export const getRecords = async (
  { pool }: { pool: Pool },
  { caller: { account_id }, payment_attempt_id }: { caller: Caller; payment_attempt_id: string },
  claims: QuoteClaims | null,
): Promise<Read> => {
  const payers = await listPayersAfterAcceptance(pool, account_id);
  const [known, paying, isLost] = await Promise.all([
    findAttempt(pool, account_id, payment_attempt_id),
    claims === null ? null : findPayingSettlement(pool, account_id, claims.quote_id),
    claims === null ? false : mayBeLost(pool, claims),
  ]);
  // Read a moment later, so it may be there already.
  const attempt = known ?? (paying?.payment_attempt_id === payment_attempt_id ? paying : null);
  return { attempt, paying, mayBeLost: isLost && attempt === null && paying === null, payers };
};

type FindPaymentContract = typeof chainSubmitter.internal.findPayment;
/** Whether a quote's payment is on the chain, and which of these owners made it. */
type FindPayment = (
  quote: z.infer<FindPaymentContract['input']>,
) => Promise<z.infer<FindPaymentContract['output']>>;

/**
 * Asks the chain for a payment whose record a restore has lost.
 * @returns the wallet of the account that paid the quote; `unknown` when somebody else did, or nobody can tell
 */
export const findLostPayment = async (
  { findWallet, findPayment, logger }: { findWallet: FindWallet; findPayment: FindPayment; logger: Logger },
  quote_token: string,
  { caller, payers }: { caller: Caller; payers: readonly Payer[] },
): Promise<Payer | 'not paid' | 'unknown'> => {
  const { account_id } = caller;
  try {
    const wallet = await findWallet(account_id, caller.kind === 'delegate_key' ? caller.wallet_id : null);
    const own = [...payers, ...(wallet === null ? [] : [{ ...wallet, account_id }])];
    const { paid, owner } = await findPayment({ quote_token, owners: own.map((each) => each.owner) });
    if (!paid) return 'not paid';
    return own.find((each) => each.owner === owner) ?? 'unknown';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    logger.warn({ err: error }, 'the chain cannot be asked for a payment whose record may be lost');
    return 'unknown';
  }
};

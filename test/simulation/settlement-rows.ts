import type { SettlementRow } from '../../services/settlement/record/store/settlements.ts';
import { CAPS, type CapName, LIMITS } from '../../shared/contract/limits.ts';
import { storedClaims } from '../../shared/lib/tokens/compact-token.ts';

/** The rows in the simulation's tables of settlement. */
export type Settlement = SettlementRow & {
  account_id: string;
  payment_attempt_id: string;
  wallet_id: string;
  quote_id: string;
  quote_token: string;
  holding: boolean;
  generation: number;
  dispatch_count: number;
  progressed_at: number;
  expires_at: string;
  refund_reserved: bigint;
  capture_threshold: bigint | null;
  capture_due_at: number | null;
  /** When its capture is decided again that an hourly cap has refused; null: at once. */
  capture_retry_at: number | null;
  /** When its capture was decided; null: it was not, or it is no authorization. */
  capturing_at: number | null;
  /** How many quotes have raised its ceiling; null: none. */
  extensions: number | null;
};

/** Whether no transaction of the payment was confirmed yet. */
export const isUnpaid = (status: Settlement['status']): boolean =>
  status === 'pending' || status === 'capturing';
/** What its payer has agreed to, which a capture or an extension does not change. */
export const acceptedMicro = ({ max_amount, quote_amount, quote_token }: Settlement): bigint =>
  max_amount === null ? quote_amount : BigInt(storedClaims(quote_token).quote_amount);
/** The extensions that have raised the ceiling of an authorization. */
export const extensionsOf = (settlements: Map<string, Settlement>, { settlement_id }: Settlement) =>
  [...settlements.values()].filter((row) => row.extends === settlement_id);
/** Whether a payment of the account is final, so that the cap of new payers does not bind it. */
export const hasHistory = (settlements: Map<string, Settlement>, accountId: string): boolean =>
  [...settlements.values()].some((row) => row.account_id === accountId && row.chain_status === 'finalized');
/** The column `extension_tokens` of services/settlement/record/store/stalled.ts. */
export const extensionTokens = (settlements: Map<string, Settlement>, row: Settlement) =>
  row.extensions === null ? null : extensionsOf(settlements, row).map(({ quote_token }) => quote_token);

/** Whether it has the claim of its quote (rule 2). */
export const isPayingQuote = ({ status }: Settlement): boolean => status !== 'failed' && status !== 'voided';

export type Payer = {
  wallet_id: string;
  account_id: string;
  owner: string;
  authority: string;
  balance: bigint;
  allowance: bigint;
  as_of_slot: bigint;
  included_slot: bigint;
  held: bigint;
};

/** The limits of a delegate, or of an account for what a sign-in pays: its id is the account's. */
export type Delegate = Record<CapName, bigint | null> & {
  delegate_id: string;
  account_id: string;
  /** Larger payments need an approval; null: none does. */
  approval_above: bigint | null;
  held: bigint;
  spent: bigint;
};

export const NO_CAPS = Object.fromEntries(CAPS.map((name) => [name, null])) as Record<CapName, null>;

/**
 * What is left of each cap in rank order, for what is used; null: no such cap. Every run ends
 * before the first period does.
 */
export const leftOfCaps = (
  delegate: Delegate,
  used: bigint,
): readonly { name: CapName; left: bigint | null }[] =>
  CAPS.map((name) => {
    const cap = delegate[name];
    return { name, left: cap === null || LIMITS[name].counts === null ? cap : cap - used };
  });

/** The id of the limits that count a payment. */
export const limitsOf = ({
  delegate_id,
  account_id,
}: {
  delegate_id: string | null;
  account_id: string | null;
}): string => delegate_id ?? account_id ?? '';

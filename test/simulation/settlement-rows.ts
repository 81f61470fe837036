import type { SettlementRow } from '../../services/settlement/record/store/settlements.ts';
import { CAPS, type CapName, LIMITS } from '../../shared/contract/limits.ts';
import { storedClaims } from '../../shared/lib/tokens/compact-token.ts';

/** The rows in the simulation's tables of settlement. */
export type Settlement = Omit<SettlementRow, 'extensions'> & {
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
  threshold: bigint | null;
  due_at: number | null;
  /** When its capture is decided again that an hourly cap has refused; null: at once. */
  retry_at: number | null;
  /** When its capture was decided; null: it was not, or it is no authorization. */
  capturing_at: number | null;
  /** Null: no authorization. */
  extensions: Extension[] | null;
};
/** A quote that has added to the ceiling of an authorization. */
type Extension = NonNullable<SettlementRow['extensions']>[number] & { quote_token: string };

/** Whether no transaction of the payment was confirmed yet. */
export const isUnpaid = (status: Settlement['status']): boolean =>
  status === 'pending' || status === 'capturing';
/** What its payer has agreed to, which a capture or an extension does not change. */
const acceptedMicro = ({ ceiling, quote_amount, quote_token }: Settlement): bigint =>
  ceiling === null ? quote_amount : BigInt(storedClaims(quote_token).quote_amount);
/** An attempt that was accepted: its settlement, or an extension of it. */
export type Acceptance = Pick<
  Settlement,
  'payment_attempt_id' | 'quote_id' | 'quote_token' | 'created_at'
> & { id: string; micro: bigint; row: Settlement };
/** The attempts that made a settlement, first to last. */
export const acceptancesOf = (row: Settlement): Acceptance[] => [
  { ...row, id: row.settlement_id, micro: acceptedMicro(row), row },
  ...(row.extensions ?? []).map((one) => ({ ...one, id: one.extension_id, micro: BigInt(one.amount), row })),
];
/** The settlement of an attempt, if a snapshot has it. */
export const findAcceptance = (
  settlements: Map<string, Settlement>,
  { account_id, payment_attempt_id }: { account_id: string; payment_attempt_id: string },
  isVisible = (_: Acceptance): boolean => true,
): Acceptance | undefined =>
  [...settlements.values()]
    .filter((row) => row.account_id === account_id)
    .flatMap(acceptancesOf)
    .find((one) => one.payment_attempt_id === payment_attempt_id && isVisible(one));
/** Whether a payment of the account is final, so that the cap of new payers does not bind it. */
export const hasHistory = (settlements: Map<string, Settlement>, accountId: string): boolean =>
  [...settlements.values()].some((row) => row.account_id === accountId && row.chain_status === 'finalized');
/** The column `extension_tokens` of services/settlement/record/store/stalled.ts. */
export const extensionTokens = ({ extensions }: Settlement) =>
  extensions === null || extensions.length === 0 ? null : extensions.map(({ quote_token }) => quote_token);

/** Whether an attempt has the claim of its quote (rule 2). That of an extension stays. */
export const isPayingQuote = ({ id, row: { settlement_id, status } }: Acceptance): boolean =>
  id !== settlement_id || (status !== 'failed' && status !== 'voided');

/** What is unique of a payment: its rows of settlement_keys. */
export const keysOf = (row: Settlement): { kind: string; key: string; created_at: number }[] => {
  const { message_hash: hash, external_id: external } = row as Settlement & {
    message_hash?: string;
    external_id?: string;
  };
  const isIncoming = row.rail === 'x402' || row.rail === 'mpp';
  const payer = row.account_id ?? null;
  const { created_at } = row;
  const own = acceptancesOf(row).flatMap((one) => [
    ...(payer === null
      ? []
      : [{ kind: 'attempt', key: `${payer}/${one.payment_attempt_id}`, created_at: one.created_at }]),
    ...(one.quote_id != null && isPayingQuote(one)
      ? [{ kind: 'quote', key: one.quote_id, created_at: one.created_at }]
      : []),
  ]);
  const others = [
    ...(isIncoming && hash !== undefined ? [{ kind: 'message', key: hash }] : []),
    ...(external != null && row.status !== 'failed'
      ? [{ kind: 'external_id', key: `${row.service_id}/${row.source_account}/${external}` }]
      : []),
  ];
  return [...own, ...others.map((one) => ({ ...one, created_at }))];
};

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

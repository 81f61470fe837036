/**
 * Ids of intents. Each is derived from the object that the intent is for, so that a repeated job or
 * submission finds the same intent (docs/design/settle.md, rule 6).
 */
export const settleIntentId = ({
  account_id,
  payment_attempt_id,
}: {
  account_id: string;
  payment_attempt_id: string;
}): string => `settle:${account_id}:${payment_attempt_id}`;

export const fundIntentId = ({ fund_id }: { fund_id: string }): string => `fund:${fund_id}`;

export const tokenAccountIntentId = ({ wallet_id }: { wallet_id: string }): string =>
  `tokenAccount:${wallet_id}`;

export const payoutAccountIntentId = (accountId: string, owner: string): string =>
  `payoutAccount:${accountId}:${owner}`;

/** @param messageHash SHA-256 of the message bytes, in hexadecimal */
export const incomingIntentId = (messageHash: string): string => `incoming:${messageHash}`;

/** An outgoing payment to a vendor that does not use Quittance. */
export const outgoingIntentId = ({
  account_id,
  payment_attempt_id,
}: {
  account_id: string;
  payment_attempt_id: string;
}): string => `out:${account_id}:${payment_attempt_id}`;
/** The intent that a preparation becomes when its owner submits it. */
export const preparedIntentId = ({
  kind,
  preparation_id,
}: {
  kind: 'delegation' | 'withdrawal' | 'refund';
  preparation_id: string;
}): string => `${kind}:${preparation_id}`;

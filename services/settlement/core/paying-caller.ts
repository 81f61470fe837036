import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import { isFresh } from '../../../shared/lib/tokens/step-up.ts';

/** Who pays from a wallet here: a person by a sign-in, or a delegate. */
export type PayingCaller = PrincipalOf<readonly ['jwt', 'delegate_key']>;

/** The delegate of a caller; null for a sign-in. */
const delegateIdOf = (caller: PayingCaller): string | null =>
  caller.kind === 'delegate_key' ? caller.delegate_id : null;

/** The wallet of a delegate's key; null: the account's default wallet pays. */
export const walletIdOf = (caller: PayingCaller): string | null =>
  caller.kind === 'delegate_key' ? caller.wallet_id : null;

/** The part of an attempt that says who makes it, and which limits bind it. */
export const partyOf = (caller: PayingCaller, now: number) => ({
  accountId: caller.account_id,
  delegateId: delegateIdOf(caller),
  isFresh: caller.kind === 'jwt' && isFresh(caller, now),
  sessionId: caller.kind === 'jwt' ? caller.session_id : null,
});

/** The part of an approval that says whose payment it is. A sign-in needs no approval. */
export const delegateOf = (caller: PayingCaller): { accountId: string; delegateId: string } => {
  if (caller.kind !== 'delegate_key') throw new TypeError('A sign-in needs no approval. This is a bug.');
  return { accountId: caller.account_id, delegateId: caller.delegate_id };
};

/** Whether an attempt belongs to another delegate. A sign-in repeats every one of the account. */
export const isOfAnother = (caller: PayingCaller, { delegate_id }: { delegate_id: string | null }): boolean =>
  caller.kind === 'delegate_key' && delegate_id !== caller.delegate_id;

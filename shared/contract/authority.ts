import type { CredentialKind } from './principal.ts';

/**
 * What permits a caller to move money, or to make something that can: a key, another way to sign
 * in, a payout address. A credential alone is none of them, because a stolen one looks the same.
 */
const AUTHORITIES = {
  step_up: 'a sign-in of the last 5 minutes',
  account_limits:
    'the limits of the account for payments by a sign-in, or a sign-in of the last 5 minutes above them',
  delegate_limits: 'the limits of the delegate, and the approvals that its owner requires',
  wallet_signature: 'the signature of the wallet whose money moves',
  authorized_ceiling: 'what the payer has authorized, up to its ceiling',
  passkey: 'a passkey',
  current_key: 'the key that is replaced',
  mailed_link: 'a link that was mailed to the owner',
  confirmed_code: 'a code that the owner has confirmed with a recent sign-in',
  refresh_token: 'the refresh token of the sign-in, which works once',
} as const;
type Authority = keyof typeof AUTHORITIES;

/**
 * The authority for each kind of credential that may call. `none` is the caller of an operation
 * that needs no credential. `nothing`: the operation neither moves money nor makes what can.
 */
export type AuthorisedBy = 'nothing' | { readonly [Kind in CredentialKind | 'none']?: Authority };

const CALLER: Record<CredentialKind | 'none', string> = {
  jwt: 'With an access token',
  delegate_key: 'With a delegate key',
  service_key: 'With a service key',
  none: 'Without a credential',
};

/** The sentences of the API reference. Undefined: there is nothing to authorise. */
export const authorityText = (authorisedBy: AuthorisedBy | undefined): string | undefined => {
  if (authorisedBy === undefined || authorisedBy === 'nothing') return undefined;
  const kinds = Object.entries(authorisedBy) as [CredentialKind | 'none', Authority][];
  const needs = kinds.map(
    ([kind, authority]) => `${CALLER[kind]} it is authorised by ${AUTHORITIES[authority]}.`,
  );
  return needs.join(' ');
};

import { LINK_MINUTES } from '../../../shared/contract/identity/sign-in.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import { type MailRow, readChanges } from '../mails/store.ts';
import { loginToken, revealToken, tokenWithHash } from '../sessions/model/tokens.ts';
import type { Details, Link, Mail } from './mail-text.ts';
import { changesMail, noticeMail } from './notices.ts';
import { signInMail } from './sign-in-mail.ts';

/** What the links in mails are made of. */
export type LinkSettings = {
  environment: Environment;
  identitySecrets: readonly Buffer[];
  signInUrl: string;
  revealUrl: string;
  consoleUrl: string;
};

const part = (text: string | undefined) => encodeURIComponent(text ?? '');

const ACCOUNT = () => ['/account', 'Review your account'] as const;
const AGENTS = () => ['/delegates', 'Review your agents'] as const;
const WALLETS = () => ['/wallet', 'Review your wallets'] as const;
const WEBHOOKS = () => ['/webhooks', 'Review your webhooks'] as const;
const ownerPage = ({ owner_kind, owner_id, service_id }: Details) =>
  owner_kind === 'delegate'
    ? AGENTS()
    : ([`/services/${part(owner_id ?? service_id)}`, 'Review the service'] as const);
const paid = ({ settlement_id }: Details) =>
  [`/payments/${part(settlement_id)}`, 'View the payment'] as const;

/**
 * The page of the console on which the owner sees what happened, and the label of its button. None:
 * the account page. The pages need a sign-in, so the links hold no secret.
 */
const PAGES: Readonly<Record<string, (details: Details) => readonly [path: string, label: string]>> = {
  key_created: ownerPage,
  key_rotated: ownerPage,
  key_revealed: ownerPage,
  payout_changed: ownerPage,
  allowed_ips_changed: ownerPage,
  payment_made: paid,
  first_payment: paid,
  payment_received: ({ settlement_id }) => [`/sales/${part(settlement_id)}`, 'View the sale'],
  payment_declined: AGENTS,
  external_allowed: AGENTS,
  delegate_widened: AGENTS,
  wallet_linked: WALLETS,
  default_wallet_changed: WALLETS,
  backup_replaced: WALLETS,
  endpoint_created: WEBHOOKS,
  endpoint_changed: WEBHOOKS,
  endpoint_secret_rotated: WEBHOOKS,
  endpoint_deleted: WEBHOOKS,
  webhook_disabled: ({ endpoint_id }) => [`/webhooks/${part(endpoint_id)}`, 'Open the endpoint'],
};

const pageOf = (consoleUrl: string, kind: string, details: Details): Link | null => {
  // Nobody can sign in to it.
  if (kind === 'account_closed') return null;
  const [path, label] = (PAGES[kind] ?? ACCOUNT)(details);
  return { url: `${consoleUrl}${path}`, label };
};

/** The mail of a row. Null for a kind that this version does not know. */
export const composeMail = (
  { environment, identitySecrets, signInUrl, revealUrl, consoleUrl }: LinkSettings,
  { kind, to_address, link_id, token_hash, details }: MailRow,
): Mail | null => {
  const to = { to: to_address, environment, now: new Date() };
  if (kind === 'sign_in' && link_id !== null) {
    const tokenOf = (secret: Buffer) => loginToken(secret, environment, link_id);
    const token = tokenWithHash(identitySecrets, tokenOf, token_hash);
    return signInMail({ ...to, signInUrl, token, minutes: LINK_MINUTES });
  }
  if (kind === 'changes') {
    const changes = readChanges(details);
    const [only, another] = changes;
    if (only !== undefined && another === undefined)
      return noticeMail(
        only.kind,
        { ...to, details: only.details },
        pageOf(consoleUrl, only.kind, only.details),
      );
    return changesMail(changes, to, { url: `${consoleUrl}/account`, label: 'Review your account' });
  }
  if (link_id === null) return noticeMail(kind, { ...to, details }, pageOf(consoleUrl, kind, details));
  // The page requires a sign-in and a passkey, so the link holds no secret.
  if (kind === 'approval_requested') {
    const link = { url: `${consoleUrl}/approvals/${link_id}`, label: 'Review the payment' };
    return noticeMail(kind, { ...to, details }, link);
  }
  // The page reads the owner of the key from the query. The token is in the fragment, which
  // browsers send to no server.
  const owner = new URLSearchParams({ [details.owner_kind ?? '']: details.owner_id ?? '' });
  const tokenOf = (secret: Buffer) => revealToken(secret, environment, link_id);
  const token = tokenWithHash(identitySecrets, tokenOf, token_hash);
  const link = { url: `${revealUrl}?${owner}#token=${token}`, label: 'Show the new key' };
  return noticeMail(kind, { ...to, details }, link);
};

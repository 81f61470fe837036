import { z } from 'zod';
import { AccountId, label, MicroUsdc, page, pageQuery, Timestamp, typeId, WalletId } from './primitives.ts';
import { operation } from './service.ts';

/** The part of identity's contract that a person sees of their own account. */

const PasskeyId = typeId('pk', 'PasskeyId');
const SessionId = typeId('ses', 'SessionId');

export const Passkey = z
  .strictObject({
    passkey_id: PasskeyId,
    label: z.string(),
    backed_up: z.boolean().meta({ description: 'Synced between devices by its provider' }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'Passkey' });

const Settings = z
  .strictObject({
    display_name: z.string().nullable(),
    default_wallet_id: WalletId.nullable().meta({
      description:
        'The wallet that a settle with an access token pays from: the first linked unless chosen. A change acts within 2 s',
    }),
    mail_key_events: z
      .boolean()
      .meta({ description: 'Mails about new, removed and replaced keys, passkeys' }),
    mail_payments: z
      .boolean()
      .meta({ description: 'Mails about payments made and received; off unless asked for' }),
    spending_alert_threshold: MicroUsdc.nullable().meta({
      description:
        'A mail, once a day, when the payments of a UTC day pass this amount; again when a raised one is passed. Null: none',
    }),
  })
  .meta({ id: 'AccountSettings' });

const me = { access: ['jwt'], errors: [] } as const;

export const accountOperations = {
  getAccount: operation({
    summary: 'The account of this sign-in',
    http: { method: 'GET', path: '/v1/accounts/me', status: 200 },
    ...me,
    output: z.strictObject({
      account_id: AccountId,
      email: z.string(),
      display_name: z.string().nullable(),
      created_at: Timestamp,
    }),
  }),
  getSettings: operation({
    summary: 'Read the account’s settings',
    http: { method: 'GET', path: '/v1/accounts/me/settings', status: 200 },
    ...me,
    output: Settings,
  }),
  updateSettings: operation({
    summary: 'Change some of the account’s settings',
    description: 'Fields that are left out stay as they are. Turning the mails about keys off is mailed.',
    http: { method: 'PATCH', path: '/v1/accounts/me/settings', status: 200 },
    ...me,
    body: z.strictObject({ ...Settings.shape, display_name: label(80, 'Ada').nullable() }).partial(),
    output: Settings,
  }),
  listPasskeys: operation({
    summary: 'List the account’s passkeys',
    http: { method: 'GET', path: '/v1/accounts/me/passkeys', status: 200 },
    ...me,
    query: z.strictObject(pageQuery),
    output: page(Passkey),
  }),
  deletePasskey: operation({
    summary: 'Remove a passkey: it signs nobody in any more',
    http: { method: 'DELETE', path: '/v1/accounts/me/passkeys/:passkey_id', status: 204 },
    access: ['jwt'],
    params: z.strictObject({ passkey_id: PasskeyId }),
    output: z.null(),
    errors: ['not_found'],
  }),
  listSessions: operation({
    summary: 'List the account’s open sign-ins',
    http: { method: 'GET', path: '/v1/accounts/me/sessions', status: 200 },
    ...me,
    query: z.strictObject(pageQuery),
    output: page(
      z
        .strictObject({
          session_id: SessionId,
          current: z.boolean().meta({ description: 'The sign-in of this very call' }),
          method: z.enum(['email', 'passkey']),
          signed_in_at: Timestamp,
          last_refreshed_at: Timestamp,
          expires_at: Timestamp,
        })
        .meta({ id: 'SignIn' }),
    ),
  }),
  deleteSession: operation({
    summary: 'End a sign-in at once, on every device that holds it',
    http: { method: 'DELETE', path: '/v1/accounts/me/sessions/:session_id', status: 204 },
    access: ['jwt'],
    whenFrozen: 'served',
    params: z.strictObject({ session_id: SessionId }),
    output: z.null(),
    errors: ['not_found'],
  }),
} as const;

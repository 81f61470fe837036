import { z } from 'zod';
import {
  AccountId,
  createdAt,
  DelegateId,
  label,
  MicroUsdc,
  page,
  pageQuery,
  ServiceId,
  Timestamp,
  typeId,
  WalletId,
} from '../primitives.ts';
import { operation } from '../service.ts';

/** The operations of identity by which a person manages their own account. */

const PasskeyId = typeId('pk', 'PasskeyId');
const SessionId = typeId('ses', 'SessionId');

export const Passkey = z
  .strictObject({
    passkey_id: PasskeyId,
    label: z.string().meta({ description: 'A name for the owner', examples: ['Laptop'] }),
    backed_up: z.boolean().meta({ description: 'Synced between devices by its provider' }),
    created_at: createdAt,
    last_used_at: Timestamp.nullable().describe('When it last signed in or approved. Null: never'),
  })
  .meta({ id: 'Passkey' });

const displayName = z
  .string()
  .nullable()
  .meta({ description: 'A name that the owner’s pages and passkeys show. Null: none', examples: ['Ada'] });
const Settings = z
  .strictObject({
    display_name: displayName,
    default_wallet_id: WalletId.nullable().meta({
      description:
        'The wallet from which a settle with an access token pays. Default: the first linked wallet. A change takes effect within 2 s',
    }),
    mail_key_events: z
      .boolean()
      .meta({ description: 'Whether mails report new, removed and replaced keys and passkeys' }),
    mail_payments: z
      .boolean()
      .meta({ description: 'Whether mails report payments made and received. Default false' }),
    spending_alert_threshold: MicroUsdc.nullable().meta({
      description:
        'A mail is sent once a day when the payments of a UTC day exceed this amount, and again when they exceed a raised amount. Null: no mail',
    }),
  })
  .meta({ id: 'AccountSettings' });

const me = { access: ['jwt'], errors: [] } as const;

export const accountOperations = {
  getAccount: operation({
    summary: 'Get the account of this sign-in',
    journey: 'read',
    http: { method: 'GET', path: '/v1/accounts/me', status: 200 },
    ...me,
    output: z
      .strictObject({
        account_id: AccountId,
        email: z
          .string()
          .meta({ description: 'The mail address that signs in', examples: ['ada@example.com'] }),
        display_name: displayName,
        created_at: createdAt,
      })
      .meta({ id: 'Account' }),
  }),
  closeAccount: operation({
    summary: 'Close the account of this sign-in',
    description: [
      'Refused with `conflict` while something is open; `details` names each part. Otherwise every sign-in, passkey, service, delegate, key, webhook endpoint and linked wallet of the account ends at once.',
      'Money in a linked wallet is its owner’s on the chain and stays there. A wallet that was created here must be empty, because its backup is erased.',
      'At `erase_at` the personal data are erased. Payments are kept under the id of the account. The address can open a new account at once. Export the data first: `quittance account export`.',
    ].join('\n\n'),
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/accounts/me/close', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['account_closed'],
    stepUp: true,
    output: z
      .strictObject({
        account_id: AccountId,
        status: z.literal('closed').describe('The account is closed'),
        closed_at: Timestamp.describe('When it was closed'),
        erase_at: Timestamp.describe('When its personal data are erased'),
      })
      .meta({ id: 'ClosedAccount' }),
    errors: ['conflict'],
  }),
  getSettings: operation({
    summary: 'Get the account’s settings',
    journey: 'read',
    http: { method: 'GET', path: '/v1/accounts/me/settings', status: 200 },
    ...me,
    output: Settings,
  }),
  updateSettings: operation({
    summary: 'Change some of the account’s settings',
    description:
      'Omitted fields are unchanged. When the mails about keys are turned off, a last mail reports it.',
    journey: 'sign-in',
    http: { method: 'PATCH', path: '/v1/accounts/me/settings', status: 200 },
    ...me,
    authorisedBy: { jwt: 'step_up' },
    notes: ['key_mails_off', 'warnings_reduced', 'default_wallet_changed'],
    stepUp: {
      when: {
        'to turn mails about keys off': 'key_mails_off',
        'to turn mails about payments off, to raise or remove the alert': 'warnings_reduced',
        'to pay from another wallet': 'default_wallet_changed',
      },
    },
    body: z
      .strictObject({
        ...Settings.shape,
        display_name: label(80, 'Ada')
          .nullable()
          .describe('A name that the owner’s pages and passkeys show. Null removes it'),
      })
      .partial()
      .meta({ id: 'UpdateAccountSettingsRequest' }),
    output: Settings,
  }),
  listPasskeys: operation({
    summary: 'List the account’s passkeys',
    journey: 'read',
    http: { method: 'GET', path: '/v1/accounts/me/passkeys', status: 200 },
    ...me,
    query: z.strictObject(pageQuery),
    output: page(Passkey),
  }),
  deletePasskey: operation({
    summary: 'Remove a passkey, which can then no longer sign in',
    journey: 'sign-in',
    http: { method: 'DELETE', path: '/v1/accounts/me/passkeys/:passkey_id', status: 204 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['passkey_removed'],
    stepUp: true,
    params: z.strictObject({ passkey_id: PasskeyId }),
    output: z.null(),
    errors: ['not_found'],
  }),
  listKeys: operation({
    summary: 'List the keys of the account that can be used',
    description:
      'The keys of all its services and delegates. Only the beginning of a key is stored beside its hash, so that you ' +
      'recognise it.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/keys', status: 200 },
    ...me,
    query: z.strictObject(pageQuery),
    output: page(
      z
        .strictObject({
          key_id: z
            .string()
            .meta({ description: 'Id of the key', examples: ['key_01kapbqv1ge0krf0fxxfcz15re'] }),
          service_id: ServiceId.nullable().describe('The service that it belongs to. Null: a delegate'),
          delegate_id: DelegateId.nullable().describe('The delegate that it belongs to. Null: a service'),
          name: label(80, 'Weather API').meta({ description: 'Name of the service or delegate' }),
          beginning: z.string().meta({ description: 'How the key begins', examples: ['vendor_test_V7mq'] }),
          current: z
            .boolean()
            .meta({ description: 'false: a rotation has replaced it, and its grace period runs' }),
          created_at: Timestamp.describe('When it was created'),
          last_used_at: Timestamp.nullable().describe('When it was last used, exact to an hour. Null: never'),
          expires_at: Timestamp.nullable().describe('When it ends by itself. Null: never'),
        })
        .meta({ id: 'ListedKey' }),
    ),
  }),
  listSessions: operation({
    summary: 'List the account’s open sign-ins, with the delegates that devices made',
    description:
      'A sign-in of a device that has ended, by itself or by its program, is listed while a delegate that it made ' +
      'works. DELETE of it ends them.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/accounts/me/sessions', status: 200 },
    ...me,
    query: z.strictObject(pageQuery),
    output: page(
      z
        .strictObject({
          session_id: SessionId,
          current: z.boolean().meta({ description: 'Whether this call was made with it' }),
          open: z.boolean().meta({ description: 'false: it has ended, and its delegates have not' }),
          method: z
            .enum(['email', 'passkey', 'device'])
            .describe('How it was made. device: confirmed in the console for a command line'),
          client_name: label(80, 'quittance on build-7')
            .nullable()
            .meta({ description: 'Of a device: the name that it gave itself' }),
          signed_in_at: Timestamp.describe('When the person signed in'),
          last_refreshed_at: Timestamp.describe('When it was last used to get an access token'),
          expires_at: Timestamp.describe('When it ends if it is not refreshed, or has ended'),
          delegates: z
            .array(
              z.strictObject({
                delegate_id: DelegateId,
                name: label(80, 'Research agent').describe('Name of the delegate'),
              }),
            )
            .describe('The delegates that a device made with it and that work. They end with it'),
        })
        .meta({ id: 'SignIn' }),
    ),
  }),
  deleteSession: operation({
    summary: 'End a sign-in immediately, on every device that uses it',
    description:
      'The delegates that a device made with it are deleted, and their keys are revoked. This is so for a sign-in ' +
      'that has ended before, too.',
    journey: 'sign-in',
    http: { method: 'DELETE', path: '/v1/accounts/me/sessions/:session_id', status: 204 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    whenFrozen: 'served',
    params: z.strictObject({ session_id: SessionId }),
    output: z.null(),
    errors: ['not_found'],
  }),
} as const;

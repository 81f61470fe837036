import { z } from 'zod';
import { page, pageQuery, Timestamp, typeId } from '../primitives.ts';
import { operation } from '../service.ts';

export const SecurityEventId = typeId('sev', 'SecurityEventId');

/** What the owner of an account should recognise. Most are mailed too. */
export const SECURITY_EVENT_KINDS = [
  'signed_in',
  'device_signed_in',
  'passkey_added',
  'passkey_removed',
  'passkey_copied',
  'key_created',
  'key_rotated',
  'key_reveal',
  'key_revealed',
  'keys_revoked',
  'payout_changed',
  'key_mails_off',
  'account_limits_changed',
  'first_payment',
] as const;
export type SecurityEventKind = (typeof SECURITY_EVENT_KINDS)[number];

/** The security events of an account: part of identity's contract. */
export const securityOperations = {
  listSecurityEvents: operation({
    summary: 'List the security events of the account',
    description:
      'Sign-ins, and changes of passkeys, keys and payout addresses, for 90 days. Revoke what you do not recognise.',
    http: { method: 'GET', path: '/v1/accounts/me/security-events', status: 200 },
    access: ['jwt'],
    query: z.strictObject(pageQuery),
    output: page(
      z
        .strictObject({
          security_event_id: SecurityEventId,
          kind: z
            .enum(SECURITY_EVENT_KINDS)
            .describe(
              'passkey_copied: a sign-in was refused, because the passkey may be a copy. key_reveal: a link to a new ' +
                'key was requested. key_revealed: that link was used. key_mails_off: mails about keys were turned off',
            ),
          details: z.record(z.string(), z.string()).meta({
            description: 'What it was about: names, ids, how a sign-in was made',
            examples: [{ method: 'passkey' }],
          }),
          created_at: Timestamp.describe('When it happened'),
        })
        .meta({ id: 'SecurityEvent' }),
    ),
    errors: [],
  }),
};

import { z } from 'zod';
import { page, pageQuery, Timestamp } from '../primitives.ts';
import { operation } from '../service.ts';
import { SECURITY_EVENT_KINDS, SecurityEventId } from './security-kinds.ts';

/** What an export has, in the words of its event. */
const EXPORTS = ['account', 'transactions', 'sales', 'statement'] as const;

/** The security events of an account: part of identity's contract. */
export const securityOperations = {
  listSecurityEvents: operation({
    summary: 'List the security events of the account',
    description:
      'Sign-ins, and changes of passkeys, keys and payout addresses, for 90 days. Revoke what you do not recognise.',
    journey: 'read',
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
                'key was requested. key_revealed: that link was used. key_mails_off: mails about keys were turned off. session_reused: an old refresh token was used ' +
                'again, so the sign-in was ended. delegate_widened: a delegate may do more. allowed_ips_changed: the keys of a ' +
                'service work from other addresses. export_made: a program has announced an export',
            ),
          details: z.record(z.string(), z.string()).meta({
            description: 'What it was about: names, ids, how a sign-in was made',
            examples: [{ method: 'passkey' }],
          }),
          address: z
            .string()
            .nullable()
            .meta({
              description: 'The network from which it was done. Null: unknown, or not by a call',
              examples: ['203.0.113.0/24'],
            }),
          agent: z
            .string()
            .nullable()
            .meta({ description: 'The kind of program that did it, by its own word', examples: ['Firefox'] }),
          created_at: Timestamp.describe('When it happened'),
        })
        .meta({ id: 'SecurityEvent' }),
    ),
    errors: [],
  }),
  noteExport: operation({
    summary: 'Note an export of the account’s data, for its owner',
    description:
      'Call it before you read lists to keep them elsewhere, as `quittance account export` and the console do. The ' +
      'owner sees it in the security events, and is mailed about an export of the whole account. It reads nothing.',
    journey: 'sign-in',
    http: { method: 'POST', path: '/v1/accounts/me/exports', status: 204 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    notes: ['export_made'],
    // A frozen account may be read, so it may be exported.
    whenFrozen: 'served',
    limits: [{ points: 30, windowSeconds: 3600, per: 'account' }],
    body: z
      .strictObject({
        of: z.enum(EXPORTS).meta({ description: 'What is exported', examples: ['account'] }),
      })
      .meta({ id: 'NoteExportRequest' }),
    output: z.null(),
    errors: [],
  }),
};

import { z } from 'zod';
import { page, pageQuery, Timestamp } from '../primitives.ts';
import { operation } from '../service.ts';
import { SECURITY_EVENT_KINDS, SecurityEventId } from './security-kinds.ts';

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
                'key was requested. key_revealed: that link was used. key_mails_off: mails about keys were turned off. session_reused: an old refresh token was used ' +
                'again, so the sign-in was ended. delegate_widened: a delegate may do more',
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
};

import { z } from 'zod';
import { accountOperations } from './identity.account.ts';
import { delegateOperations } from './identity.delegates.ts';
import { Service, serviceOperations } from './identity.services.ts';
import { signInOperations } from './identity.sign-in.ts';
import { AccountId, DelegateId, EventId, label, ServiceId, Timestamp, WalletId } from './primitives.ts';
import { Principal } from './principal.ts';
import { internalOperation, service } from './service.ts';

/** What makes a change of an account recognisable when it is told again, whose it is, and when it was. */
const change = { fact_id: EventId, account_id: AccountId, at: Timestamp };

export const identity = service({
  name: 'identity',
  operations: {
    ...signInOperations,
    ...accountOperations,
    ...serviceOperations,
    ...delegateOperations,
  },
  internal: {
    findKey: internalOperation({
      summary:
        'The principal behind a service or delegate key, by the SHA-256 of its text. Null when unknown or ended.',
      callers: ['gateway'],
      input: z.strictObject({ key_hash: z.string().regex(/^[A-Za-z0-9_-]{43}$/) }),
      output: Principal.nullable(),
    }),
    findSession: internalOperation({
      summary: 'Whether a sign-in is still open',
      callers: ['gateway'],
      input: z.strictObject({ session_id: z.string().max(64), account_id: AccountId }),
      output: z.strictObject({ open: z.boolean() }),
    }),
    findService: internalOperation({
      summary: 'What a quote needs of a service. Null when there is none.',
      callers: ['quote'],
      input: z.strictObject({ service_id: ServiceId }),
      output: z.strictObject({ ...Service.shape, account_id: AccountId }).nullable(),
    }),
  },
  events: {
    /** Keys that are refused from now on, by the hash of their text: caches forget them. */
    keysEnded: z.strictObject({ key_hashes: z.array(z.string()) }),
    sessionEnded: z.strictObject({ account_id: AccountId, session_id: z.string() }),
    delegateChanged: z.strictObject({
      ...change,
      change: z.enum(['created', 'updated', 'deleted']),
      delegate_id: DelegateId,
      name: label(80, 'Research agent'),
      wallet_id: WalletId,
      expires_at: Timestamp.nullable(),
    }),
    /** Of a service or of a delegate: a new key in place of the current one, or the end of all. Never a key or its hash. */
    keyChanged: z.strictObject({
      ...change,
      change: z.enum(['rotated', 'revealed', 'ended']),
      service_id: ServiceId.nullable(),
      delegate_id: DelegateId.nullable(),
      previous_key_expires_at: Timestamp.nullable(),
    }),
  },
  jobs: {},
  consumes: ['settlement.issued', 'webhook.endpointDisabled'],
});

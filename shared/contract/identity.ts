import { z } from 'zod';
import { accountOperations } from './identity.account.ts';
import { delegateOperations } from './identity.delegates.ts';
import { Service, serviceOperations } from './identity.services.ts';
import { signInOperations } from './identity.sign-in.ts';
import { AccountId, ServiceId } from './primitives.ts';
import { Principal } from './principal.ts';
import { internalOperation, service } from './service.ts';

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
  },
  jobs: {},
  consumes: ['settlement.issued'],
});

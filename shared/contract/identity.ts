import { z } from 'zod';
import { accountOperations } from './identity.account.ts';
import { signInOperations } from './identity.sign-in.ts';
import {
  AccountId,
  label,
  MicroUsdc,
  page,
  pageQuery,
  ServiceId,
  SolanaAddress,
  Timestamp,
} from './primitives.ts';
import { Principal } from './principal.ts';
import { internalOperation, operation, service } from './service.ts';

const Service = z
  .strictObject({
    service_id: ServiceId,
    name: z.string(),
    price: MicroUsdc,
    payout_address: SolanaAddress,
    redeem_window_seconds: z.int().min(30).max(604800),
    status: z.enum(['active', 'closing']),
    created_at: Timestamp,
  })
  .meta({ id: 'Service' });

export const identity = service({
  name: 'identity',
  operations: {
    ...signInOperations,
    ...accountOperations,
    createService: operation({
      summary: 'Create a vendor service and its API key',
      description: 'The api_key is shown this once.',
      http: { method: 'POST', path: '/v1/services', status: 201 },
      access: ['jwt'],
      limits: [{ points: 10, windowSeconds: 60, per: 'account' }],
      body: z.strictObject({
        name: label(80),
        price: MicroUsdc,
        payout_address: SolanaAddress,
        redeem_window_seconds: z.int().min(30).max(604800).optional().meta({ description: 'Default 900' }),
        allow_off_curve: z
          .boolean()
          .optional()
          .meta({ description: 'Needed for a multisig vault as payout address' }),
      }),
      output: z.strictObject({ ...Service.shape, api_key: z.string() }),
      errors: [],
    }),
    listServices: operation({
      summary: 'List vendor services',
      http: { method: 'GET', path: '/v1/services', status: 200 },
      access: ['jwt'],
      query: z.strictObject(pageQuery),
      output: page(Service),
      errors: [],
    }),
    getService: operation({
      summary: 'Get a vendor service',
      http: { method: 'GET', path: '/v1/services/:service_id', status: 200 },
      access: ['jwt'],
      params: z.strictObject({ service_id: ServiceId }),
      output: Service,
      errors: ['not_found'],
    }),
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
    sessionEnded: z.strictObject({ account_id: AccountId, session_id: z.string() }),
  },
  jobs: {},
  consumes: [],
});

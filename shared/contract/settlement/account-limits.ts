import { z } from 'zod';
import { MicroUsdc, MicroUsdcOrZero, Timestamp } from '../primitives.ts';
import { operation } from '../service.ts';

const limits = {
  per_payment: MicroUsdc.describe('Largest single payment'),
  daily: MicroUsdc.describe('Sum of a UTC day'),
};
const AccountLimits = z
  .strictObject({
    ...limits,
    used_today: MicroUsdcOrZero.describe(
      'What sign-ins have paid in this UTC day, or hold for payments that are under way',
    ),
    remaining_today: MicroUsdcOrZero.describe('What a sign-in may still pay in this UTC day'),
    resets_at: Timestamp.describe('When the day ends'),
  })
  .meta({
    id: 'AccountLimits',
    description: 'What sign-ins of the account may pay without a recent sign-in',
  });

/** The limits of an account for payments with an access token (docs/adr/0063). */
export const accountLimitOperations = {
  getAccountLimits: operation({
    summary: 'Get what a sign-in may pay',
    description:
      'These limits bind payments with an access token, to services and to other vendors. A person’s sign-in of the ' +
      'last 5 minutes may exceed them, that of a device never does. Its payments count in the day, too. A delegate has limits of its own.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/accounts/me/limits', status: 200 },
    access: ['jwt'],
    output: AccountLimits,
    errors: [],
  }),
  updateAccountLimits: operation({
    summary: 'Change what a sign-in may pay',
    description:
      'Omitted fields are unchanged. A change is mailed to the owner. A limit that is lowered never undoes a payment.',
    journey: 'agent',
    http: { method: 'PATCH', path: '/v1/accounts/me/limits', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['account_limits_changed'],
    stepUp: true,
    body: z.strictObject(limits).partial().meta({ id: 'UpdateAccountLimitsRequest' }),
    output: AccountLimits,
    errors: [],
  }),
};

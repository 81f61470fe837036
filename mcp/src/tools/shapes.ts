import * as z from 'zod';
import type { Payee } from '../../../sdk/src/generated/payees.ts';
import { itemOf, movedOf, type Payment } from '../../../sdk/src/payment.ts';
import { inBoth, micro, usdc } from '../amounts.ts';

/** The shapes of payments in answers. */

export const settlementId = z
  .string()
  .regex(/^stl_[0-9a-z]{26}$/)
  .describe('stl_…');

export const payeesShape = z
  .array(z.object({ address: z.string(), amount: micro, amount_usdc: usdc }))
  .describe('Everybody who is paid, and how much');
/** Everybody who is paid, with each amount in both forms. */
export const payeesIn = (payees: readonly Payee[]): z.infer<typeof payeesShape> =>
  payees.map(({ address, amount }) => ({ address, ...inBoth({ amount }) }));

export const paidShape = z.object({
  settlement_id: z.string(),
  rail: z.enum(['quittance', 'x402_out', 'mpp_out']),
  amount: micro,
  amount_usdc: usdc,
  payees: payeesShape,
  payee_name: z.string(),
  tx_hash: z.string().nullable(),
  authorized: z
    .literal(true)
    .optional()
    .describe('The amount is a ceiling: nothing is paid yet, and the vendor is paid what was used of it'),
  confirmed: z
    .boolean()
    .describe('False: only the vendor says that it was paid. settle_status shows what the chain says'),
});

export const paymentShape = z.object({
  settlement_id: z.string(),
  status: z.string().describe('pending, authorized, capturing, issued, redeemed, expired, voided or failed'),
  extensions: z
    .array(
      z.object({ extension_id: z.string(), quote_id: z.string(), amount: micro, created_at: z.string() }),
    )
    .nullable()
    .describe('What has added to the ceiling of an authorization'),
  chain_status: z.string().describe('none, pending, confirmed, finalized or failed'),
  rail: z.string(),
  amount: micro.describe(
    'What is paid, in USDC micro-units. Of an authorization what was captured: 0 while it is open, and if it was voided',
  ),
  amount_usdc: usdc,
  max_amount: micro.nullable().describe('Ceiling of an authorization, in USDC micro-units'),
  max_amount_usdc: usdc.nullable(),
  fee: micro,
  fee_usdc: usdc,
  payee_name: z.string(),
  payees: payeesShape.nullable().describe('Everybody who was paid, of a payment to an outside vendor'),
  item: z.string().nullable().describe('What was bought: the title of a payment link, or an address'),
  resource: z.string().nullable(),
  tx_hash: z.string().nullable(),
  created_at: z.string(),
  failure: z.object({ code: z.string(), message: z.string() }).nullable(),
});

/** A settlement without the token that gives access to its delivery. */
export const paymentOf = (of: Payment): z.infer<typeof paymentShape> => ({
  settlement_id: of.settlement_id,
  status: of.status,
  extensions:
    of.extensions?.map(({ extension_id, quote_id, amount, created_at }) => ({
      extension_id,
      quote_id,
      amount,
      created_at,
    })) ?? null,
  chain_status: of.chain_status,
  rail: of.rail,
  ...inBoth({
    amount: movedOf(of).toString(),
    max_amount: of.authorization?.max_amount ?? null,
    fee: movedOf(of) === 0n ? '0' : of.fee_amount,
  }),
  payee_name: of.service_name,
  payees: of.payees === undefined ? null : payeesIn(of.payees),
  item: itemOf(of),
  resource: of.resource ?? (typeof of.scope?.resource === 'string' ? of.scope.resource : null),
  tx_hash: of.tx_hash,
  created_at: of.created_at,
  failure: of.failure,
});

import { z } from 'zod';
import { MicroUsdcOrZero } from '../primitives.ts';
import { Quote } from '../quote/operations.ts';
import { operation } from '../service.ts';

/** The fees of x402 payments, which accrue because their transaction has no room for them. */
export const feeOperations = {
  getFees: operation({
    summary: 'Read the accrued fees of the account',
    description:
      'A payment by x402 transfers the exact price, so its fee accrues: the largest of 0.5 %, 0.002 USDC and the ' +
      'cost of its transaction. A payment that fails returns its fee, unless the chain has included and refused its ' +
      'transaction. Beyond the credit, x402 payments are refused with `facilitator_credit_exhausted`.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/accounts/me/fees', status: 200 },
    access: ['jwt', 'service_key'],
    output: z
      .strictObject({
        accrued: MicroUsdcOrZero.meta({
          description: 'Of all payments that are under way or confirmed, or failed on chain',
        }),
        paid: MicroUsdcOrZero.describe('What the account has paid of them'),
        owed: MicroUsdcOrZero.describe('What is still to pay'),
        credit: MicroUsdcOrZero.meta({
          description: 'How much the account may owe. It rises with what the account has paid of its fees',
        }),
      })
      .meta({ id: 'Fees' }),
    errors: [],
  }),
  createFeeQuote: operation({
    summary: 'Get a quote for the fees that the account owes',
    description:
      'Settle it with `POST /v1/settle`, from a wallet of any account: its scope names the account whose fees it pays. ' +
      'What is paid beyond the owed sum counts for later fees.',
    journey: 'sell',
    http: { method: 'POST', path: '/v1/accounts/me/fee-quote', status: 201 },
    access: ['jwt'],
    authorisedBy: 'nothing',
    fromDevice: 'served',
    repeatable: true,
    output: Quote,
    errors: ['conflict'],
  }),
};

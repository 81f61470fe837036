import { z } from 'zod';
import { SettlementId } from '../primitives.ts';
import { operation } from '../service.ts';

/**
 * The wire shapes of x402, which are not ours: names in camel case, unknown fields dropped, and
 * refusals within a body of status 200.
 */

const Extra = z.record(z.string(), z.json());
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const ADDRESS = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const HASH = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';
const REQUIREMENTS = {
  scheme: 'exact',
  network: NETWORK,
  amount: '50000',
  asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  payTo: ADDRESS,
  maxTimeoutSeconds: 60,
  extra: { feePayer: ADDRESS },
};
const PAYLOAD = {
  x402Version: 2,
  accepted: REQUIREMENTS,
  payload: { transaction: 'AgAAAAAAAAAAAAAAAAAAAA==' },
};

/** Version 2 names the price `amount`, version 1 `maxAmountRequired`. */
const Requirements = z
  .object({
    scheme: z.string().max(32),
    network: z.string().max(64),
    asset: z.string().max(64),
    payTo: z.string().max(64),
    amount: z.string().max(32).optional(),
    maxAmountRequired: z.string().max(32).optional(),
    resource: z.string().max(4096).optional(),
    maxTimeoutSeconds: z.number().optional(),
    extra: Extra.nullish(),
  })
  .meta({ id: 'X402PaymentRequirements', examples: [REQUIREMENTS] });
const Payload = z
  .object({
    x402Version: z.number().optional(),
    scheme: z.string().max(32).optional(),
    network: z.string().max(64).optional(),
    resource: z.object({ url: z.string().max(4096).optional() }).nullish(),
    accepted: Requirements.optional(),
    payload: z.object({ transaction: z.string().max(4096) }),
    extensions: Extra.nullish(),
  })
  .meta({ id: 'X402PaymentPayload', examples: [PAYLOAD] });

/** The error of a refusal, beside the fields of x402. */
const RefusalBody = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    money_moved: z.enum(['no', 'yes', 'unknown']),
  })
  .optional();

const VerifyResponse = z
  .strictObject({
    isValid: z.boolean(),
    invalidReason: z.string().optional(),
    invalidMessage: z.string().optional(),
    payer: z.string().optional(),
    error: RefusalBody,
  })
  .meta({ id: 'X402VerifyResponse', examples: [{ isValid: true, payer: ADDRESS }] });
const SettleResponse = z
  .strictObject({
    success: z.boolean(),
    transaction: z.string(),
    network: z.string(),
    payer: z.string().optional(),
    amount: z.string().optional(),
    errorReason: z.string().optional(),
    errorMessage: z.string().optional(),
    extra: z
      .strictObject({
        quittance: z.strictObject({
          settlement_id: SettlementId,
          /** Identifies this hand-out of the success. */
          hand_out_id: z.string().optional(),
        }),
      })
      .optional(),
    error: RefusalBody,
  })
  .meta({
    id: 'X402SettleResponse',
    examples: [
      {
        success: true,
        transaction: HASH,
        network: NETWORK,
        payer: ADDRESS,
        amount: '50000',
        extra: { quittance: { settlement_id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs' } },
      },
    ],
  });

const body = z.object({
  x402Version: z
    .number()
    .optional()
    .meta({ examples: [2] }),
  paymentPayload: Payload,
  paymentRequirements: Requirements,
});
const LIMIT = { windowSeconds: 60, per: 'account' } as const;

export const x402Operations = {
  x402Supported: operation({
    summary: 'The payment kinds of this x402 facilitator',
    http: { method: 'GET', path: '/v1/x402/supported', status: 200 },
    access: ['service_key'],
    output: z.strictObject({
      kinds: z.array(
        z.strictObject({
          x402Version: z.int().meta({ examples: [2] }),
          scheme: z.string().meta({ examples: ['exact'] }),
          network: z.string().meta({ examples: [NETWORK] }),
          extra: z.strictObject({ feePayer: z.string().meta({ examples: [ADDRESS] }) }),
        }),
      ),
      extensions: z.array(z.string()).meta({ examples: [['payment-identifier']] }),
      signers: z.record(z.string(), z.array(z.string())).meta({ examples: [{ 'solana:*': [ADDRESS] }] }),
    }),
    errors: [],
  }),
  x402Verify: operation({
    summary: 'Verify an x402 payment without settling it',
    description:
      'Checks the signed bytes, simulates them and writes nothing. A refused payment is answered with 200, ' +
      '`isValid: false`, the reason of x402, and `error`.',
    http: { method: 'POST', path: '/v1/x402/verify', status: 200 },
    access: ['service_key'],
    whenFrozen: { handler: 'a payment that was accepted before is answered, a new one is refused' },
    limits: [{ points: 600, ...LIMIT }],
    body,
    repeatable: true,
    output: VerifyResponse,
    errors: [],
    dialect: 'x402Verify',
    timeoutSeconds: 10,
  }),
  x402Settle: operation({
    summary: 'Settle an x402 payment',
    description:
      'Co-signs, broadcasts and waits for the confirmation. The success of a payment is handed out once. A refused ' +
      'payment is answered with 200, `success: false`, the reason of x402, and `error`. A failure is reported only ' +
      'if no money moved and none will. If the outcome is unknown, the answer is 202 without JSON: repeat the call.',
    http: { method: 'POST', path: '/v1/x402/settle', status: 200 },
    access: ['service_key'],
    whenFrozen: { handler: 'a payment that was accepted before is settled, a new one is refused' },
    limits: [{ points: 300, ...LIMIT }],
    body,
    repeatable: true,
    output: SettleResponse,
    errors: [],
    money: 'moves',
    dialect: 'x402Settle',
    confirmsHandOut: true,
    timeoutSeconds: 10,
    repeatsWhile: { field: 'errorReason', equals: 'settlement_pending', seconds: 50 },
  }),
};

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

const NETWORK_TEXT = 'CAIP-2 id of the chain, or its name in version 1';
const VERSION_TEXT = 'The version of x402';
const scheme = z.string().max(32).describe('Always `exact`');
const version = z.number().describe(VERSION_TEXT);
const payer = z.string().describe('The address that signed the payment');

/** Version 2 names the price `amount`, version 1 `maxAmountRequired`. */
const Requirements = z
  .object({
    scheme: scheme,
    network: z.string().max(64).describe(NETWORK_TEXT),
    asset: z.string().max(64).describe('The mint of USDC'),
    payTo: z.string().max(64).describe('The address that is paid'),
    amount: z.string().max(32).optional().describe('The price in micro-units, in version 2'),
    maxAmountRequired: z.string().max(32).optional().describe('The price in micro-units, in version 1'),
    resource: z.string().max(4096).optional().describe('What is paid for, in version 1'),
    maxTimeoutSeconds: z.number().optional().describe('How long the vendor waits for the payment'),
    extra: Extra.nullish().describe('What the scheme needs besides: the fee payer, a memo'),
  })
  .meta({
    id: 'X402PaymentRequirements',
    description: 'The offer of the vendor’s 402',
    examples: [REQUIREMENTS],
  });
const Payload = z
  .object({
    x402Version: version.optional(),
    scheme: scheme.optional(),
    network: z.string().max(64).optional().describe(NETWORK_TEXT),
    resource: z
      .object({ url: z.string().max(4096).optional().describe('Its URL') })
      .nullish()
      .describe('What the client pays for'),
    accepted: Requirements.optional().describe('The offer that the client has accepted, in version 2'),
    payload: z
      .object({ transaction: z.string().max(4096).describe('The signed transaction, base64') })
      .describe('The payment itself'),
    extensions: Extra.nullish().describe('Extensions of x402, for instance `payment-identifier`'),
  })
  .meta({ id: 'X402PaymentPayload', description: 'What the client sent in its header', examples: [PAYLOAD] });

/** The error of a refusal, beside the fields of x402. */
const RefusalBody = z
  .strictObject({
    code: z.string().describe('Code of the error, as other calls answer it'),
    message: z.string().describe('What is wrong, then what to do. For people'),
    money_moved: z.enum(['no', 'yes', 'unknown']).describe('Whether money moved'),
  })
  .meta({ id: 'X402Refusal' })
  .optional()
  .describe('Why it was refused. Absent: it was not');

const VerifyResponse = z
  .strictObject({
    isValid: z.boolean().describe('Whether settle would accept it now'),
    invalidReason: z.string().optional().describe('Why not: a reason of x402'),
    invalidMessage: z.string().optional().describe('Why not, for people'),
    payer: payer.optional(),
    error: RefusalBody,
  })
  .meta({ id: 'X402VerifyResponse', examples: [{ isValid: true, payer: ADDRESS }] });
const SettleResponse = z
  .strictObject({
    success: z.boolean().describe('Whether this call got the payment. Deliver only if it is true'),
    transaction: z.string().describe('The transaction on chain. Empty: none'),
    network: z.string().describe(NETWORK_TEXT),
    payer: payer.optional(),
    amount: z.string().optional().describe('What was paid, in micro-units'),
    errorReason: z.string().optional().describe('Why not: a reason of x402'),
    errorMessage: z.string().optional().describe('Why not, for people'),
    extra: z
      .strictObject({
        quittance: z
          .strictObject({
            settlement_id: SettlementId,
            hand_out_id: z.string().optional().describe('Identifies this hand-out of the success'),
          })
          .describe('The payment in this API'),
      })
      .optional()
      .describe('Fields beyond x402'),
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

const body = z
  .object({
    x402Version: version.optional().meta({ examples: [2] }),
    paymentPayload: Payload,
    paymentRequirements: Requirements,
  })
  .meta({ id: 'X402Request' });
const LIMIT = { windowSeconds: 60, per: 'account' } as const;

export const x402Operations = {
  x402Supported: operation({
    summary: 'The payment kinds of this x402 facilitator',
    journey: 'deliver',
    http: { method: 'GET', path: '/v1/x402/supported', status: 200 },
    access: ['service_key'],
    output: z
      .strictObject({
        kinds: z
          .array(
            z.strictObject({
              x402Version: z.int().meta({ description: VERSION_TEXT, examples: [2] }),
              scheme: z.string().meta({ description: 'Always `exact`', examples: ['exact'] }),
              network: z.string().meta({ description: NETWORK_TEXT, examples: [NETWORK] }),
              extra: z
                .strictObject({
                  feePayer: z.string().meta({
                    description: 'Who pays the fee of the transaction, and co-signs it',
                    examples: [ADDRESS],
                  }),
                })
                .describe('What the scheme needs besides'),
            }),
          )
          .describe('The accepted kinds of payment'),
        extensions: z
          .array(z.string())
          .meta({ description: 'The supported extensions of x402', examples: [['payment-identifier']] }),
        signers: z.record(z.string(), z.array(z.string())).meta({
          description: 'Addresses that co-sign, by network',
          examples: [{ 'solana:*': [ADDRESS] }],
        }),
      })
      .meta({ id: 'X402Supported' }),
    errors: [],
  }),
  x402Verify: operation({
    summary: 'Verify an x402 payment without settling it',
    description:
      'Checks the signed bytes, simulates them and writes nothing. A refused payment is answered with 200, ' +
      '`isValid: false`, the reason of x402, and `error`.',
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/x402/verify', status: 200 },
    access: ['service_key'],
    authorisedBy: 'nothing',
    whenFrozen: { handler: 'a payment that was accepted before is answered, a new one is refused' },
    limits: [{ points: 600, ...LIMIT }],
    refusalsApart: { points: 6000, windowSeconds: 60 },
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
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/x402/settle', status: 200 },
    access: ['service_key'],
    authorisedBy: { service_key: 'wallet_signature' },
    whenFrozen: { handler: 'a payment that was accepted before is settled, a new one is refused' },
    limits: [{ points: 300, ...LIMIT }],
    refusalsApart: { points: 3000, windowSeconds: 60 },
    body,
    repeatable: true,
    output: SettleResponse,
    errors: [],
    money: 'moves',
    namedBy: [],
    dialect: 'x402Settle',
    confirmsHandOut: true,
    timeoutSeconds: 10,
    repeatsWhile: { field: 'errorReason', equals: 'settlement_pending', seconds: 50 },
  }),
};

import { z } from 'zod';
import {
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WireTransaction,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { RedeemId } from './events.ts';

/** CAIP-2 id of the chain, as x402 names it. */
const Network = z
  .string()
  .max(64)
  .meta({ examples: ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'] });

const payer = {
  payer_address: SolanaAddress.meta({ description: 'Address that signed the payment' }),
  source_account: SolanaAddress.meta({ description: 'Token account that paid' }),
};

const Confirmed = z.strictObject({
  settlement_id: SettlementId,
  status: z.literal('confirmed'),
  tx_hash: TransactionHash,
  quote_amount: MicroUsdc,
  fee_amount: MicroUsdcOrZero,
  ...payer,
  redeemed_at: Timestamp,
  redeem_id: RedeemId,
  replayed: z.boolean(),
});
const Pending = z.strictObject({
  settlement_id: SettlementId,
  status: z.literal('pending'),
  tx_hash: TransactionHash.nullable(),
});

export const foreignOperations = {
  foreignTerms: operation({
    summary: 'What a vendor needs to offer its resource to clients of x402 and MPP',
    description:
      'The values of a 402 of these protocols: network, mint, the fee payer that co-signs, the payout address of ' +
      'the service, and the fee. They change rarely; read them again every few minutes.',
    http: { method: 'GET', path: '/v1/settlements/foreign/terms', status: 200 },
    access: ['service_key'],
    output: z.strictObject({
      network: Network,
      mpp_network: z.enum(['mainnet-beta', 'devnet', 'localnet']),
      mint: SolanaAddress,
      decimals: z.literal(6),
      token_program: SolanaAddress,
      fee_payer: SolanaAddress,
      payout_address: SolanaAddress,
      fee: z.strictObject({
        bps: z.int().min(0),
        min: MicroUsdcOrZero,
        fee_wallet: SolanaAddress,
      }),
    }),
    errors: ['not_found'],
  }),
  acceptForeign: operation({
    summary: 'Settle a payment that a client of x402 or MPP has signed, and redeem it',
    description:
      'The vendor has verified that the payment answers its own offer, and names the amount and the memo of that ' +
      'offer. The platform checks the signed bytes, co-signs, and waits for the confirmation. The settlement is ' +
      'redeemed in the same step: deliver only if `replayed` is false or the `redeem_id` is yours. A repeat of the ' +
      'same transaction never pays twice. After 202, repeat the call.',
    http: {
      method: 'POST',
      path: '/v1/settlements/foreign',
      status: 200,
      alternative: { status: 202, field: 'status', equals: 'pending', retryAfterSeconds: 2 },
    },
    access: ['service_key'],
    whenFrozen: { handler: 'a payment that was accepted before is redeemed, a new one is refused' },
    limits: [{ points: 300, windowSeconds: 60, per: 'account' }],
    body: z.strictObject({
      rail: z.enum(['x402', 'mpp']),
      quote_amount: MicroUsdc,
      memo: label(256, 'b3f1…')
        .meta({
          description:
            'The memo that the offer requires. Without it any single memo or none is accepted, because clients of x402 version 1 write none',
        })
        .optional(),
      transaction: WireTransaction,
      redeem_id: RedeemId,
      resource: label(2048, 'https://api.example.com/report').optional(),
    }),
    repeatable: true,
    output: z.discriminatedUnion('status', [Confirmed, Pending]),
    errors: ['conflict', 'insufficient_funds', 'payment_failed'],
    money: 'moves',
    timeoutSeconds: 10,
    repeatsWhile: { field: 'status', equals: 'pending', seconds: 15 },
  }),
  reissueForeign: operation({
    summary: 'Allow the success of an undelivered x402 payment to be handed out once more',
    description:
      'A payment whose success was handed out, but whose vendor did not deliver. The next settle of the same payload ' +
      'gets the success again.',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/reissue', status: 200 },
    access: ['service_key', 'jwt'],
    whenFrozen: 'served',
    params: z.strictObject({ settlement_id: SettlementId }),
    repeatable: true,
    output: z.strictObject({ settlement_id: SettlementId, status: z.literal('issued') }),
    errors: ['not_found', 'conflict'],
  }),
};

import { z } from 'zod';
import {
  Blockhash,
  Environment,
  feeAmount,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  quoteAmount,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  txHashOrNull,
  WireTransaction,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { RedeemId } from './events.ts';
import { IncomingRail } from './rail.ts';

/** CAIP-2 id of the chain, as x402 names it. */
const Network = z
  .string()
  .max(64)
  .meta({
    description: 'CAIP-2 id of the chain, as x402 names it',
    examples: ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
  });

const payer = {
  payer_address: SolanaAddress.meta({ description: 'Address that signed the payment' }),
  source_account: SolanaAddress.meta({ description: 'Token account that paid' }),
};

const Confirmed = z
  .strictObject({
    settlement_id: SettlementId,
    status: z.literal('confirmed').describe('The payment is on chain'),
    tx_hash: TransactionHash.describe('The transaction on chain'),
    quote_amount: quoteAmount,
    fee_amount: feeAmount,
    ...payer,
    redeemed_at: Timestamp.describe('When it was redeemed first'),
    redeem_id: RedeemId,
    replayed: z.boolean().describe('Whether an earlier call has redeemed it'),
  })
  .meta({ id: 'ConfirmedIncomingPayment' });
/** An incoming payment whose outcome is open. */
export const PendingIncoming = z
  .strictObject({
    settlement_id: SettlementId,
    status: z.literal('pending').describe('The payment is under way. Repeat the call'),
    tx_hash: txHashOrNull,
  })
  .meta({ id: 'PendingIncomingPayment' });

export const incomingOperations = {
  getBlockhash: operation({
    summary: 'A recent blockhash and the fee payer, for a transaction that a page builds',
    description:
      'The payment page builds the transaction of a payment by itself, so that no server decides what a wallet signs. ' +
      'A transaction with this blockhash can be paid for about a minute.',
    journey: 'pay',
    http: { method: 'GET', path: '/v1/blockhash', status: 200 },
    access: [],
    environment: { field: 'environment' },
    limits: [{ points: 60, windowSeconds: 60, per: 'ip' }],
    query: z.strictObject({
      environment: Environment.optional().describe('The environment of the quote. Default test'),
    }),
    output: z
      .strictObject({
        blockhash: Blockhash.describe('A blockhash at confirmed commitment'),
        fee_payer: SolanaAddress.describe('Who pays the fee of the transaction, and co-signs it'),
      })
      .meta({ id: 'RecentBlockhash' }),
    errors: [],
  }),
  foreignTerms: operation({
    summary: 'What a vendor needs to offer its resource to clients of x402 and MPP',
    description:
      'The values of a 402 of these protocols: network, mint, the fee payer that co-signs, the payout address of ' +
      'the service, and the fee. They change rarely; read them again every few minutes.',
    journey: 'deliver',
    http: { method: 'GET', path: '/v1/settlements/foreign/terms', status: 200 },
    access: ['service_key'],
    output: z
      .strictObject({
        network: Network,
        mpp_network: z.enum(['mainnet-beta', 'devnet', 'localnet']).describe('The chain, as MPP names it'),
        mint: SolanaAddress.describe('The mint of USDC'),
        decimals: z.literal(6).describe('Decimals of the mint'),
        token_program: SolanaAddress.describe('The program that owns the mint'),
        fee_payer: SolanaAddress.describe('Who pays the fee of the transaction, and co-signs it'),
        payout_address: SolanaAddress.describe('The address of the service that is paid'),
        fee: z
          .strictObject({
            bps: z.int().min(0).describe('Hundredths of a percent of the price'),
            min: MicroUsdcOrZero.describe('The smallest fee'),
            fee_wallet: SolanaAddress.describe('The address that gets the fee'),
          })
          .describe('What the platform gets of a payment'),
      })
      .meta({ id: 'IncomingTerms' }),
    errors: ['not_found'],
  }),
  acceptForeign: operation({
    summary: 'Settle a payment that a client of x402 or MPP has signed, and redeem it',
    description:
      'The vendor has verified that the payment answers its own offer, and names the amount and the memo of that ' +
      'offer. The platform checks the signed bytes, co-signs, and waits for the confirmation. The settlement is ' +
      'redeemed in the same step: deliver only if `replayed` is false or the `redeem_id` is yours. A repeat of the ' +
      'same transaction never pays twice. After 202, repeat the call.',
    journey: 'deliver',
    http: {
      method: 'POST',
      path: '/v1/settlements/foreign',
      status: 200,
      alternative: { status: 202, field: 'status', equals: 'pending', retryAfterSeconds: 2 },
    },
    access: ['service_key'],
    authorisedBy: { service_key: 'wallet_signature' },
    whenFrozen: { handler: 'a payment that was accepted before is redeemed, a new one is refused' },
    limits: [{ points: 300, windowSeconds: 60, per: 'account' }],
    refusalsApart: { points: 3000, windowSeconds: 60 },
    body: z
      .strictObject({
        rail: IncomingRail.describe('The protocol of the client'),
        quote_amount: MicroUsdc.describe('The price of the vendor’s offer'),
        memo: label(256, 'b3f1…')
          .meta({
            description:
              'The memo that the offer requires. Without it any single memo or none is accepted, because clients of x402 version 1 write none',
          })
          .optional(),
        transaction: WireTransaction.describe('The transaction that the client has signed'),
        redeem_id: RedeemId,
        resource: label(2048, 'https://api.example.com/report')
          .optional()
          .describe('What the client pays for. It is shown to the vendor'),
      })
      .meta({ id: 'IncomingPaymentRequest' }),
    repeatable: true,
    output: z.discriminatedUnion('status', [Confirmed, PendingIncoming]),
    errors: ['conflict', 'insufficient_funds', 'payment_failed'],
    money: 'moves',
    namedBy: ['transaction'],
    timeoutSeconds: 10,
    repeatsWhile: { field: 'status', equals: 'pending', seconds: 15 },
  }),
  reissueForeign: operation({
    summary: 'Allow the success of an undelivered x402 payment to be handed out once more',
    description:
      'A payment whose success was handed out, but whose vendor did not deliver. The next settle of the same payload ' +
      'gets the success again. `redeem_id` names the success that was not delivered, so a repeat of this call makes no ' +
      'further one available: the `hand_out_id` of its answer, or the `redeem_id` of the settlement.',
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/reissue', status: 200 },
    access: ['service_key', 'jwt'],
    authorisedBy: 'nothing',
    whenFrozen: 'served',
    params: z.strictObject({ settlement_id: SettlementId }),
    body: z.strictObject({ redeem_id: RedeemId }).meta({ id: 'ReissueRequest' }),
    repeatable: { with: 'redeem_id' },
    output: z
      .strictObject({
        settlement_id: SettlementId,
        status: z.literal('issued').describe('The success can be handed out once more'),
      })
      .meta({ id: 'Reissue' }),
    errors: ['not_found', 'conflict'],
  }),
};

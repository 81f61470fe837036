import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { chainSubmitter, OutgoingSplit } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { PLATFORM_SERVICE_ID } from '../../../shared/contract/platform.ts';
import {
  AccountId,
  MicroUsdc,
  SettlementId,
  SolanaAddress,
  Timestamp,
} from '../../../shared/contract/primitives.ts';
import { parseKnown } from '../../../shared/contract/read.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { feeMicro } from '../../../shared/lib/money/fee.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { readToken } from '../../../shared/lib/tokens/compact-token.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import type { Failure } from '../ledger/model/failure.ts';
import type { Network } from '../ledger/model/network.ts';
import type {
  IncomingOrder,
  Order,
  OutgoingOrder,
  SettleOrder,
  TransferOrder,
} from '../ledger/model/order.ts';
import { signingDeadline } from '../ledger/model/state.ts';
import { referenceOf } from '../ledger/reference.ts';
import { outgoingLegs } from './outgoing-legs.ts';

/** An intent without a quote fails when it is not signed within this time. */
const SIGN_WITHIN_MS = 10 * 60_000;
/** The row may have been lost and inserted again, so the intent may be older than its row. */
const ANY_TIME = 0;
/** Nothing is signed any more. What was signed is followed up, and found on the chain. */
const NEVER = 0;

type SettleJob = z.infer<typeof chainSubmitter.jobs.settle.payload>;
type OrderContext = { network: Network; environment: string; keys: PublicKeys };

/** The request of a delegation intent, from its preparation. */
export const DelegationRequest = z.strictObject({
  preparation_id: z.string(),
  account_id: z.string(),
  owner: SolanaAddress,
  authority: SolanaAddress,
  allowance: MicroUsdc.nullable(),
});
export type DelegationRequest = z.infer<typeof DelegationRequest>;

/**
 * The request of a withdrawal or refund intent. Its destination was resolved when it was prepared.
 */
export const TransferRequest = z.strictObject({
  object_id: z.string(),
  settlement_id: SettlementId.nullable(),
  account_id: z.string(),
  owner: SolanaAddress,
  payee: SolanaAddress.nullable(),
  destination: SolanaAddress,
  amount: MicroUsdc,
  accepted_at: Timestamp,
});
export type TransferRequest = z.infer<typeof TransferRequest>;

/**
 * The request of an intent for a payment that another client signed. It repeats what the bytes were
 * checked to do.
 */
export const IncomingRequest = z.strictObject({
  settlement_id: SettlementId,
  account_id: AccountId,
  authority: SolanaAddress,
  source_account: SolanaAddress,
  legs: z.array(z.strictObject({ token_account: SolanaAddress, amount: MicroUsdc })),
  /** The sum of the legs. It is held of the source's balance (incoming/store/intents.ts). */
  amount: MicroUsdc,
  /** The moment in whose hour the caps count the amount. A lost payment counts in none. */
  capped_at: Timestamp.optional(),
  /** The payment of a smart wallet, which was judged by what it changes. */
  by_outcome: z.literal(true).optional(),
  /** The buyer signs last. Until it is on chain, it counts for nobody's balance. */
  signs_last: z.literal(true).optional(),
  /** The fees that it has reserved of the daily budget, and gives back if it expires. */
  lamports: z.string().regex(/^\d+$/).optional(),
});
export type IncomingRequest = z.infer<typeof IncomingRequest>;

/** The request of an intent for an outgoing payment, as settlement has asked for it. */
export const OutgoingRequest = z.strictObject({
  settlement_id: SettlementId,
  account_id: AccountId,
  owner: SolanaAddress,
  authority: SolanaAddress,
  pay_to: SolanaAddress,
  fee_payer: SolanaAddress,
  amount: MicroUsdc,
  memo: z.string().nullable(),
  /** Set for a payment of MPP. */
  splits: z.array(OutgoingSplit).optional(),
  /** The moment in whose hour the caps count the amount. Only what is stored has it. */
  capped_at: Timestamp.optional(),
});
export type OutgoingRequest = z.infer<typeof OutgoingRequest>;
/** A job that can never be executed. Nothing was signed for it. */
export class OrderRefused extends Error {
  override name = 'OrderRefused';
  readonly failure: Failure;
  constructor(message: string) {
    super(message);
    this.failure = { code: 'payment_failed', message };
  }
}

/** @throws OrderRefused for a token that the quote service did not sign */
const readQuote = (token: string, { environment, keys }: OrderContext) => {
  try {
    return readToken('quote', token, { env: environment, keys });
  } catch (error) {
    // A token of another version is no invalid one: a process of that version executes the job.
    if (!(error instanceof ServiceError) || error.code !== 'validation_error') throw error;
    throw new OrderRefused(`the quote token is invalid: ${error.message}`);
  }
};

/** What an extension has in common with the quote that it extends. */
const IN_COMMON = ['vendor_account_id', 'service_id', 'payout_address', 'mint', 'capture'] as const;

/**
 * What the extensions of a quote add to what may be signed for it. Each counts once, and one of a
 * key that is not in force adds nothing (rule 26).
 */
const addedMicro = (claims: QuoteClaims, tokens: readonly string[], context: OrderContext): bigint => {
  const added = new Map<string, bigint>();
  for (const token of tokens) {
    const read = readQuote(token, context);
    const extension = read.claimsFor('followUp');
    if (extension.extends !== claims.quote_id)
      throw new OrderRefused('an extension is of another authorization');
    if (!IN_COMMON.every((field) => isDeepStrictEqual(extension[field], claims[field])))
      throw new OrderRefused('an extension has other terms than the quote that it extends');
    if (read.claimsFor('newPayment') !== null)
      added.set(extension.quote_id, parseMicro(extension.quote_amount));
  }
  return [...added.values()].reduce((sum, amount) => sum + amount, 0n);
};

/** `isWithin`: what was signed allows the amount. */
type Amounts = { grossMicro: bigint; feeMicro: bigint; isWithin: boolean };

/**
 * What a quote pays: its amount, or of a quote with a ceiling the captured part of it. The rule of
 * the fee is signed, so a job chooses nothing but the part. A restore may have lost an extension
 * whose capture is on chain: it is followed up there, and nothing is signed.
 */
const amountsOf = (claims: QuoteClaims, job: SettleJob, context: OrderContext): Amounts => {
  const { quote_amount, fee_amount, capture } = claims;
  const { capture_amount: captureAmount, extension_tokens: extensions = [] } = job;
  if (claims.extends !== undefined) throw new OrderRefused('an extension pays nothing itself');
  if (capture === undefined) {
    if (captureAmount !== undefined)
      throw new OrderRefused('the quote has no ceiling, so no part of it is paid');
    return { grossMicro: parseMicro(quote_amount), feeMicro: parseMicro(fee_amount), isWithin: true };
  }
  if (captureAmount === undefined) throw new OrderRefused('the quote is a ceiling, and no capture is named');
  const ceilingMicro = parseMicro(quote_amount) + addedMicro(claims, extensions, context);
  const grossMicro = parseMicro(captureAmount);
  const rule = { bps: BigInt(capture.fee.bps), minMicro: parseMicro(capture.fee.min) };
  return { grossMicro, feeMicro: feeMicro(grossMicro, rule), isWithin: grossMicro <= ceilingMicro };
};

const settleOrder = (job: SettleJob, context: OrderContext): SettleOrder => {
  const { network, environment } = context;
  const read = readQuote(job.quote_token, context);
  const claims = read.claimsFor('followUp');
  const { owner, authority } = job.payer;
  if (claims.mint !== network.mint) throw new OrderRefused('the quote names another mint');
  const { grossMicro, feeMicro: fee, isWithin } = amountsOf(claims, job, context);
  if (fee >= grossMicro) throw new OrderRefused('the fee leaves the vendor nothing');
  const source = tokenAccountOf(owner, network.mint);
  const payoutAccount = tokenAccountOf(claims.payout_address, network.mint);
  const paysFees = claims.service_id === PLATFORM_SERVICE_ID && fee === 0n;
  if (source === payoutAccount || source === network.feeAccount)
    throw new OrderRefused('payer and payee are the same');
  if ((payoutAccount === network.feeAccount) !== paysFees)
    throw new OrderRefused('only a quote of the platform pays the fee wallet');
  return {
    kind: 'settle',
    accountId: job.account_id,
    acceptedAt: Date.parse(job.accepted_at),
    quoteId: claims.quote_id,
    vendorAccountId: claims.vendor_account_id,
    payout: claims.payout_address,
    payoutAccount,
    payer: owner,
    source,
    authority,
    grossMicro,
    feeMicro: fee,
    paysFees,
    reference: referenceOf(environment, claims.quote_id),
    since: Date.parse(claims.issued_at),
    signBefore: read.claimsFor('newPayment') !== null && isWithin ? signingDeadline(claims) : NEVER,
  };
};

const transferOrder = (
  kind: TransferOrder['kind'],
  { object_id: id, settlement_id: settlementId, ...request }: TransferRequest,
  { network, environment }: OrderContext,
): TransferOrder => ({
  kind,
  accountId: request.account_id,
  owner: request.owner,
  source: tokenAccountOf(request.owner, network.mint),
  payee: request.payee,
  destination: request.destination,
  amountMicro: parseMicro(request.amount),
  // Each object has a separate reference: two equal refunds of one settlement must not share a
  // signature (rule 12).
  reference: referenceOf(
    environment,
    settlementId === null ? `${kind}/${id}` : `${kind}/${settlementId}/${id}`,
  ),
  since: ANY_TIME,
});

const incomingOrder = (request: IncomingRequest, since: number): IncomingOrder => ({
  kind: 'incoming',
  accountId: request.account_id,
  authority: request.authority,
  source: request.source_account,
  legs: request.legs.map(({ token_account, amount }) => ({
    destination: token_account,
    amountMicro: parseMicro(amount),
  })),
  byOutcome: request.by_outcome === true,
  since,
});

const outgoingOrder = (
  request: OutgoingRequest,
  { since, mint }: { since: number; mint: string },
): OutgoingOrder => ({
  kind: 'outgoing',
  accountId: request.account_id,
  source: tokenAccountOf(request.owner, mint),
  legs: outgoingLegs(request).map(({ payTo, amountMicro }) => ({
    destination: tokenAccountOf(payTo, mint),
    amountMicro,
  })),
  since,
});
/**
 * Parses the order of an intent from its request. A settle's order comes from the quote token,
 * whose signature is verified at every use, so neither the job nor the stored row can change what
 * is paid (rule 7).
 * @throws OrderRefused when the job can never be executed
 */
export const parseOrder = (
  intent: { kind: Order['kind']; request: unknown; created_at: number },
  context: OrderContext,
): Order => {
  const { network, environment } = context;
  const signBefore = intent.created_at + SIGN_WITHIN_MS;
  switch (intent.kind) {
    case 'settle':
      return settleOrder(parseKnown(chainSubmitter.jobs.settle.payload, intent.request), context);
    case 'fund': {
      const job = parseKnown(chainSubmitter.jobs.fund.payload, intent.request);
      if (network.fundingAuthority === null)
        throw new OrderRefused('funding is not available in this environment');
      return {
        kind: 'fund',
        accountId: job.account_id,
        owner: job.owner,
        destination: tokenAccountOf(job.owner, network.mint),
        amountMicro: parseMicro(job.amount),
        reference: referenceOf(environment, `fund/${job.fund_id}`),
        since: ANY_TIME,
        signBefore,
      };
    }
    case 'createTokenAccount': {
      const job = parseKnown(chainSubmitter.jobs.createTokenAccount.payload, intent.request);
      const tokenAccount = tokenAccountOf(job.owner, network.mint);
      return {
        kind: 'createTokenAccount',
        accountId: job.account_id,
        owner: job.owner,
        tokenAccount,
        since: intent.created_at,
        signBefore,
      };
    }
    case 'delegation': {
      const request = parseKnown(DelegationRequest, intent.request);
      return {
        kind: 'delegation',
        accountId: request.account_id,
        owner: request.owner,
        tokenAccount: tokenAccountOf(request.owner, network.mint),
        authority: request.authority,
        allowanceMicro: request.allowance === null ? null : parseMicro(request.allowance),
        since: intent.created_at,
      };
    }
    case 'incoming':
      return incomingOrder(parseKnown(IncomingRequest, intent.request), intent.created_at);
    case 'outgoing':
      return outgoingOrder(parseKnown(OutgoingRequest, intent.request), {
        since: intent.created_at,
        mint: network.mint,
      });
    case 'withdrawal':
    case 'refund':
      return transferOrder(intent.kind, parseKnown(TransferRequest, intent.request), context);
  }
};

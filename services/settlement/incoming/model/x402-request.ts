import type { z } from 'zod';
import { MAX_MEMO_BYTES, MicroUsdc, WireTransaction } from '../../../../shared/contract/primitives.ts';
import type { settlement } from '../../../../shared/contract/settlement.ts';
import { v1NetworkOf } from './networks.ts';

/** A request of x402's verify or settle. */
type Request = z.infer<typeof settlement.operations.x402Settle.input>;

/** What a payment must do, as the vendor's requirements say. */
type X402Order = {
  amountMicro: bigint;
  /** The exact memo. Null: the requirements name none. */
  memo: string | null;
  transaction: string;
  /** The id of the extension payment-identifier. */
  externalId: string | null;
  resource: string | null;
};
/** A reason code of x402, with a sentence for the developer. */
export type X402Refusal = { reason: string; message: string };

export type X402Terms = {
  /** CAIP-2 id, of version 2. */
  network: string;
  mint: string;
  payTo: string;
  /** Null: any. */
  feePayers: readonly string[] | null;
};

const MAX_RESOURCE = 2048;
const EXTERNAL_ID = /^[A-Za-z0-9_-]{16,128}$/;

class Refused extends Error {
  readonly refusal: X402Refusal;
  constructor(reason: string, message: string) {
    super(message);
    this.refusal = { reason, message };
  }
}
const refuse = (reason: string, message: string): never => {
  throw new Refused(reason, message);
};

const checkVersion = ({ x402Version, paymentPayload }: Request): 1 | 2 => {
  const version = paymentPayload.x402Version ?? x402Version;
  if (version === 1 || version === 2) return version;
  return refuse('invalid_x402_version', 'the x402 version must be 2 or 1');
};

/** Checks the scheme and the network that the vendor requires and the buyer has accepted. */
const checkKind = ({ paymentPayload, paymentRequirements }: Request, version: 1 | 2, terms: X402Terms) => {
  const expected = version === 2 ? terms.network : v1NetworkOf(terms.network);
  const accepted = version === 2 ? paymentPayload.accepted : paymentPayload;
  if (version === 2 && paymentPayload.accepted === undefined)
    refuse('invalid_payload', 'paymentPayload.accepted is missing');
  const schemes = [paymentRequirements.scheme, accepted?.scheme];
  if (schemes.some((scheme) => scheme !== 'exact'))
    refuse('unsupported_scheme', 'this facilitator settles the scheme exact only');
  if (paymentRequirements.network !== expected)
    refuse('invalid_network', `this facilitator serves the network ${expected}`);
  if (accepted?.network !== expected)
    refuse(
      'invalid_exact_svm_network_mismatch',
      `the payment is for the network ${accepted?.network ?? '(none)'}`,
    );
};

const checkTarget = ({ paymentRequirements: required }: Request, terms: X402Terms): void => {
  if (required.asset !== terms.mint)
    refuse('invalid_exact_svm_payload_mint_mismatch', `the asset must be ${terms.mint}`);
  if (required.payTo !== terms.payTo)
    refuse(
      'invalid_exact_svm_payload_recipient_mismatch',
      `payTo must be the payout address of the service, ${terms.payTo}`,
    );
  const feePayer = required.extra?.feePayer;
  if (typeof feePayer !== 'string')
    refuse('invalid_exact_svm_payload_missing_fee_payer', 'extra.feePayer is missing in the requirements');
  else if (terms.feePayers?.includes(feePayer) === false)
    refuse(
      'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
      'extra.feePayer is no fee payer of this facilitator: read /v1/x402/supported again',
    );
};

const amountOf = ({ paymentRequirements: required }: Request, version: 1 | 2): bigint => {
  const parsed = MicroUsdc.safeParse(version === 2 ? required.amount : required.maxAmountRequired);
  if (!parsed.success)
    return refuse('invalid_payment_requirements', 'the amount must be micro-units as decimal digits');
  return BigInt(parsed.data);
};

const memoOf = ({ paymentRequirements: required }: Request): string | null => {
  const memo = required.extra?.memo;
  if (memo === undefined || memo === null) return null;
  if (typeof memo !== 'string' || Buffer.byteLength(memo) > MAX_MEMO_BYTES)
    return refuse(
      'invalid_payment_requirements',
      `extra.memo must be text of at most ${MAX_MEMO_BYTES} bytes`,
    );
  return memo;
};

const externalIdOf = ({ paymentPayload }: Request): string | null => {
  const extension = paymentPayload.extensions?.['payment-identifier'];
  const id = (extension as { info?: { id?: unknown } } | undefined)?.info?.id;
  if (id === undefined || id === null) return null;
  if (typeof id !== 'string' || !EXTERNAL_ID.test(id))
    return refuse(
      'invalid_payload',
      'the payment-identifier must be 16 to 128 characters of A-Z a-z 0-9 _ -',
    );
  return id;
};

/** Postgres stores no NUL, and a page should not show control characters. */
const resourceOf = ({ paymentPayload, paymentRequirements }: Request): string | null => {
  const text = paymentPayload.resource?.url ?? paymentRequirements.resource ?? '';
  const visible = text.replace(/\p{C}/gu, '').slice(0, MAX_RESOURCE);
  return visible === '' ? null : visible;
};

/**
 * Reads a request of x402 and checks what the bytes of the transaction do not decide
 * (docs/design/interop.md, section 2).
 */
export const readX402Request = (request: Request, terms: X402Terms): X402Order | X402Refusal => {
  try {
    const version = checkVersion(request);
    checkKind(request, version, terms);
    checkTarget(request, terms);
    const transaction = WireTransaction.safeParse(request.paymentPayload.payload.transaction);
    if (!transaction.success)
      refuse(
        'invalid_exact_svm_payload_transaction_could_not_be_decoded',
        'the transaction must be base64 of at most 1,232 bytes',
      );
    return {
      amountMicro: amountOf(request, version),
      memo: memoOf(request),
      transaction: request.paymentPayload.payload.transaction,
      externalId: externalIdOf(request),
      resource: resourceOf(request),
    };
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
};

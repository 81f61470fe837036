import { createClient } from '../client.ts';
import { QuittanceError } from '../errors.ts';
import type { Fetch } from '../transport.ts';
import type { Output } from '../types.ts';
import { bytesOf, type Environment, isInForce, isSignedBy, type Keys, parse } from './tokens.ts';

/** The signed content of a receipt. Amounts in USDC micro-units, times ISO 8601 UTC. */
export type ReceiptClaims = Output<'settlement.getReceipt'>['claims'];

/** The text is no receipt that the API signed for this environment. */
export class BadReceiptError extends QuittanceError {
  override readonly name: string = 'BadReceiptError';
}

export type VerifyReceiptOptions = {
  /** The expected environment. A receipt of `test` proves no payment of money. */
  environment: Environment;
} & (
  | {
      /** The published keys, retired ones included: `keys` of `/.well-known/jwks.json?all=true`. */
      keys: Keys;
    }
  | {
      /** The address of the API, whose keys are loaded for each call. */
      baseUrl: string;
      /** Default: the platform's fetch. */
      fetch?: Fetch;
    }
);

const MAX_LENGTH = 65_536;
const TYPE = 'quittance-receipt+jwt';
const HEADER = ['alg', 'kid', 'typ'];
const KID = /^(test|live)\.settlement\.[1-9][0-9]{0,5}$/;
const AMOUNT = /^(0|[1-9][0-9]{0,18})$/;

type Json = { [name: string]: unknown };

/** @throws BadReceiptError with the given message */
const decoded = <T>(decode: () => T, message: string): T => {
  try {
    return decode();
  } catch {
    throw new BadReceiptError(message);
  }
};

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const isAmount = (value: unknown): boolean => typeof value === 'string' && AMOUNT.test(value);
const isTime = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));

/** Checks the claims that every reader uses, so that a receipt with newer claims is accepted. */
const isReceipt = ({ amount, vendor, transaction, refunds, ...claims }: Json): boolean =>
  [claims.settlement_id, claims.status, claims.chain_status, claims.network, claims.payer_address].every(
    (value) => typeof value === 'string',
  ) &&
  Number.isSafeInteger(claims.iat) &&
  isTime(claims.confirmed_at) &&
  isAmount(claims.refunded) &&
  isObject(vendor) &&
  typeof vendor.service_name === 'string' &&
  Array.isArray(vendor.payees) &&
  vendor.payees.every(
    (payee) => isObject(payee) && typeof payee.address === 'string' && isAmount(payee.amount),
  ) &&
  isObject(amount) &&
  [amount.gross, amount.fee, amount.net].every(isAmount) &&
  amount.currency === 'USDC' &&
  isObject(transaction) &&
  typeof transaction.signature === 'string' &&
  Array.isArray(refunds) &&
  refunds.every((refund) => isObject(refund) && isAmount(refund.amount));

const keysOf = async (options: VerifyReceiptOptions): Promise<Keys> => {
  if ('keys' in options) return options.keys;
  const { environment, ...api } = options;
  return (await createClient(api).gateway.jwks({ environment, all: 'true' })).keys;
};

/**
 * Verifies a receipt and returns its content. With `keys` no call is made. The content is what the
 * API knew at `iat`: `chain_status` `failed` means that the chain reversed the payment.
 * @throws BadReceiptError saying what is wrong: malformed, another type or environment, an unknown
 * key, a key that has ended, altered
 */
export const verifyReceipt = async (
  receipt: string,
  options: VerifyReceiptOptions,
): Promise<ReceiptClaims> => {
  const { environment } = options;
  const [header, payload, signature, ...rest] = receipt.slice(0, MAX_LENGTH + 1).split('.');
  const isWhole = header !== undefined && payload !== undefined && signature !== undefined;
  if (receipt.length > MAX_LENGTH || !isWhole || rest.length > 0)
    throw new BadReceiptError('the receipt is malformed; pass its three parts, separated by dots');
  const malformed = 'the receipt is malformed; pass it unchanged, as the API or the link has it';
  const signatureBytes = decoded(() => bytesOf(signature), malformed);
  const { alg, kid, typ, ...unknown } = decoded(() => parse(bytesOf(header)), malformed);
  if (alg !== 'EdDSA' || typ !== TYPE || Object.keys(unknown).length > 0)
    throw new BadReceiptError(
      `this is no receipt; its header must have ${HEADER.join(', ')} only, with EdDSA and ${TYPE}`,
    );
  const claims = decoded(() => parse(bytesOf(payload)), malformed);
  const [, env] = KID.exec(String(kid)) ?? [];
  if (env === undefined) throw new BadReceiptError('the receipt names a key that may not sign receipts');
  if (env !== environment || claims.env !== environment)
    throw new BadReceiptError(
      `the receipt is of the ${env} environment; a receipt of ${environment} is expected`,
    );
  const jwk = (await keysOf(options)).find((each) => each.kid === kid && each.env === environment);
  if (jwk === undefined)
    throw new BadReceiptError(
      'the API has not published the key of the receipt; load the keys with ?all=true, which includes retired ones',
    );
  if (!(await isSignedBy(jwk, signatureBytes, `${header}.${payload}`)))
    throw new BadReceiptError(
      'the signature is invalid: the receipt was altered, or the API did not sign it',
    );
  if (!isReceipt(claims)) throw new BadReceiptError('the signed content is no receipt');
  if (!isInForce(jwk, (claims.iat as number) * 1000))
    throw new BadReceiptError(
      'the key of the receipt is no longer in force, so anybody may have signed it; get the receipt anew from the ' +
        'API, which signs it with another key',
    );
  return claims as ReceiptClaims;
};

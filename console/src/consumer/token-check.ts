import { sortedJson } from '../../../sdk/src/checks/encoding.ts';
import {
  BadTokenError,
  createTokenVerifier,
  type QuoteClaims,
  type SettlementClaims,
} from '../../../sdk/src/checks/tokens.ts';
import type { Output } from '../../../sdk/src/main.ts';

/** Checks the two tokens of a payment in this page, against the published keys and the record. */

type Payment = Output<'settlement.get'>;
type Keys = Output<'gateway.jwks'>['keys'];

export type TokenCheck<C> =
  /** `disagree`: the differences from the record as text. Empty if there are none. */
  | { is: 'genuine'; claims: C; publicKey: string; disagree: string[] }
  | { is: 'bad'; why: string }
  | { is: 'absent' };
type Claims = { quote: QuoteClaims; settlement: SettlementClaims };
type TokenChecks = { quote: TokenCheck<QuoteClaims>; settlement: TokenCheck<SettlementClaims> };

/** Compares values that token and record both contain. A triple is name, signed, recorded. */
const differences = (pairs: readonly (readonly [string, string, string])[]): string[] =>
  pairs
    .filter(([, signed, recorded]) => signed !== recorded)
    .map(([what, signed, recorded]) => `${what}: signed is ${signed}, the record says ${recorded}`);

const check = async <T extends keyof Claims>(
  type: T,
  token: string | undefined,
  environment: 'test' | 'live',
  keys: Keys,
  compare: (claims: Claims[T]) => string[],
): Promise<TokenCheck<Claims[T]>> => {
  if (token === undefined) return { is: 'absent' };
  try {
    const verify = createTokenVerifier(environment, async () => keys);
    const claims: Claims[T] = await verify(type, token);
    const publicKey = keys.find(({ kid }) => kid === claims.kid)?.x ?? '';
    return { is: 'genuine', claims, publicKey, disagree: compare(claims) };
  } catch (error) {
    if (!(error instanceof BadTokenError)) throw error;
    return { is: 'bad', why: error.message };
  }
};

/**
 * The amount, and the fee if the token has one. Those of an authorization are of its first ceiling,
 * which extensions extend, and of which a part is captured.
 */
const amountsIn = (
  signed: Pick<QuoteClaims, 'quote_amount'> & Partial<Pick<QuoteClaims, 'fee_amount'>>,
  { authorization, quote_amount, fee_amount }: Payment,
): [string, string, string][] => {
  if (authorization === undefined)
    return [
      ['Amount in micro-units', signed.quote_amount, quote_amount],
      ['Fee in micro-units', signed.fee_amount ?? fee_amount, fee_amount],
    ];
  const isWithin = BigInt(signed.quote_amount) <= BigInt(authorization.max_amount);
  return isWithin ? [] : [['Ceiling in micro-units', signed.quote_amount, authorization.max_amount]];
};

/**
 * Checks both tokens of a payment.
 * @param keys the published keys, retired ones included, because a receipt may be old
 * @throws the error of WebCrypto if it does not support Ed25519
 */
export const checkTokens = async (
  payment: Payment,
  environment: 'test' | 'live',
  keys: Keys,
): Promise<TokenChecks> => ({
  quote: await check('quote', payment.quote_token, environment, keys, (claims) =>
    differences([
      ['Quote', claims.quote_id, payment.quote_id ?? 'nothing'],
      ['Service', claims.service_id, payment.service_id ?? 'nothing'],
      ...amountsIn(claims, payment),
      // The database keeps its names in an order of its own.
      ['What was bought', sortedJson(claims.scope), sortedJson(payment.scope)],
    ]),
  ),
  settlement: await check('settlement', payment.settlement_token, environment, keys, (claims) =>
    differences([
      ['Payment', claims.settlement_id, payment.settlement_id],
      ['Quote', claims.quote_id, payment.quote_id ?? 'nothing'],
      ['Service', claims.service_id, payment.service_id ?? 'nothing'],
      ...amountsIn(claims, payment),
      ['Redeem until', claims.redeem_expires_at, payment.redeem_expires_at ?? 'nothing'],
    ]),
  ),
});

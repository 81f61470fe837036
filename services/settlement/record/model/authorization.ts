import { conflict, invalid, ServiceError } from '../../../../shared/contract/errors.ts';
import type { CaptureTerms } from '../../../../shared/contract/quote/capture.ts';
import { type FeeRule, feeMicro } from '../../../../shared/lib/money/fee.ts';
import { parseMicro } from '../../../../shared/lib/money/micro.ts';
import type { Status } from './status.ts';

/** What decides whether an authorization can be used, captured or voided. */
export type Authorization = {
  status: Status;
  /** Null: not an authorization. */
  maxMicro: bigint | null;
  usedMicro: bigint;
  /** Whether it is neither due nor closed. */
  usable: boolean;
  isAtRisk: boolean;
};

const closed = (message: string): ServiceError =>
  new ServiceError('authorization_closed', `${message}; ask the buyer for another one`);

/** Of a call about a ceiling, for another payment. */
export const notAuthorized = (): ServiceError =>
  conflict('the quote has no ceiling: its whole amount is paid, so redeem the settlement instead');

/** The words for a state in which nothing more can be used. Null: it is open. */
export const closedError = ({ status, usable, isAtRisk }: Authorization): ServiceError | null => {
  if (status === 'voided') return closed('the authorization was voided');
  if (status === 'capturing') return closed('the authorization is being captured');
  if (status === 'failed') return closed('the capture of the authorization failed, and nothing was paid');
  if (status !== 'authorized') return closed('the authorization is captured');
  if (isAtRisk)
    return closed('the wallet of the buyer no longer covers the authorization; what was used is captured');
  return usable
    ? null
    : closed('the authorization was closed, or has reached its threshold or the end of its window');
};

/** Of a capture beyond what was used, while an operator has frozen the payer or the vendor. */
export const frozenError = (): ServiceError =>
  closed('an account of the authorization is frozen, so only what was reported as used is captured');

/**
 * Why a use cannot be recorded, or null when it can. The statement has the same guards
 * (../store/consumptions.ts).
 */
export const usageRefusal = (authorization: Authorization, wantedMicro: bigint): ServiceError | null => {
  const { maxMicro, usedMicro } = authorization;
  if (maxMicro === null) return notAuthorized();
  const refusal = closedError(authorization);
  if (refusal !== null) return refusal;
  if (usedMicro + wantedMicro <= maxMicro) return null;
  return new ServiceError(
    'usage_exceeds_authorization',
    `used ${usedMicro} of ${maxMicro}, so ${maxMicro - usedMicro} are left; this call reports ${wantedMicro}`,
  );
};

/** The fee rule that a quote fixed for its capture. */
const captureRule = ({ fee }: Pick<CaptureTerms, 'fee'>): FeeRule => ({
  bps: BigInt(fee.bps),
  minMicro: parseMicro(fee.min),
});

/** The least amount that can be captured: the smallest fee takes all of any less. */
export const leastCapture = (terms: Pick<CaptureTerms, 'fee'>): bigint => captureRule(terms).minMicro + 1n;

/** What a capture pays. */
export type CaptureAmounts = { amountMicro: bigint; feeMicro: bigint };

/** Gross and fee of a capture. Null: the fee leaves nothing. */
export const captureAmounts = (
  amountMicro: bigint,
  terms: Pick<CaptureTerms, 'fee'>,
): CaptureAmounts | null => {
  const fee = feeMicro(amountMicro, captureRule(terms));
  return amountMicro > fee ? { amountMicro, feeMicro: fee } : null;
};

/**
 * What a call of capture pays.
 * @param askedMicro null: what was used
 * @throws ServiceError for an amount that the quote does not allow
 */
export const amountsToCapture = (
  authorization: Authorization,
  terms: Pick<CaptureTerms, 'fee' | 'mode'>,
  askedMicro: bigint | null,
): CaptureAmounts => {
  const { maxMicro, usedMicro } = authorization;
  if (maxMicro === null) throw notAuthorized();
  const amountMicro = askedMicro ?? usedMicro;
  if (amountMicro > maxMicro)
    throw new ServiceError(
      'usage_exceeds_authorization',
      `the ceiling is ${maxMicro}; this call captures ${amountMicro}`,
    );
  if (amountMicro < usedMicro)
    throw invalid('amount', `must be at least what was reported as used, which is ${usedMicro}`);
  if (amountMicro > usedMicro) {
    if (terms.mode === 'usage')
      throw invalid('amount', `must be what was reported as used, ${usedMicro}, because the quote says so`);
    const refusal = closedError(authorization);
    if (refusal !== null) throw refusal;
  }
  const amounts = captureAmounts(amountMicro, terms);
  if (amounts !== null) return amounts;
  throw new ServiceError(
    'capture_below_fee',
    `the fee of ${amountMicro} is ${feeMicro(amountMicro, captureRule(terms))}; the least amount that can be captured is ${leastCapture(terms)}`,
  );
};

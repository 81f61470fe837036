import type { ErrorBody } from '../../../shared/contract/errors.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';

/** The reason codes of x402 for errors that are not about a payment. */
const REASONS: Partial<Record<ErrorBody['code'], string>> = {
  validation_error: 'invalid_payload',
  payload_too_large: 'invalid_payload',
  unsupported_media_type: 'invalid_payload',
};

/**
 * The answer to a settle of x402 whose outcome is unknown. It is no JSON, because a stock vendor
 * answers every refusal with a new 402, upon which the buyer signs another payment. An answer that
 * the vendor cannot read becomes 502 at the buyer (docs/adr/0043).
 */
export const UNKNOWN = {
  status: 202,
  text: 'The outcome of this payment is unknown. Settle the same payload again.\n',
} as const;

/**
 * The body of an error in the protocol of the operation, with ours under `error`.
 * @returns null: no JSON may be sent (`UNKNOWN`)
 */
export const inDialect = (
  dialect: HttpOperation['dialect'],
  status: number,
  body: { error: ErrorBody },
): object | null => {
  if (dialect === undefined) return body;
  const { code, message } = body.error;
  // Wallets of Solana Pay show this text.
  if (dialect === 'solanaPay') return { message, ...body };
  if (dialect === 'x402Verify')
    return {
      isValid: false,
      invalidReason: REASONS[code] ?? 'unexpected_verify_error',
      invalidMessage: message,
      ...body,
    };
  // That this call moved no money says nothing about an earlier call with the same payload.
  if (status >= 500) return null;
  const errorReason = REASONS[code] ?? 'unexpected_settle_error';
  return { success: false, transaction: '', network: '', errorReason, errorMessage: message, ...body };
};

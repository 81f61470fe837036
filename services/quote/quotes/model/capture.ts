import type { z } from 'zod';
import { invalid } from '../../../../shared/contract/errors.ts';
import { CAPTURE_WINDOW_SECONDS, type CaptureTerms } from '../../../../shared/contract/quote/capture.ts';
import type { quote } from '../../../../shared/contract/quote.ts';
import { type FeeRule, feeMicro } from '../../../../shared/lib/money/fee.ts';
import { formatMicro, parseMicro } from '../../../../shared/lib/money/micro.ts';

type Input = z.infer<typeof quote.operations.create.input>;

/** The fields that mean something only with a ceiling. */
const OF_CAPTURE = ['max_amount', 'unit_price', 'capture_window_seconds', 'capture_threshold'] as const;
/** The fields of a fixed price. */
const OF_PRICE = ['quote_amount', 'redeem_window_seconds'] as const;

const refuseFields = (input: Input, fields: readonly (keyof Input)[], why: string): void => {
  const sent = fields.find((field) => input[field] !== undefined);
  if (sent !== undefined) throw invalid(sent, why);
};

const checkAmounts = (input: Input, maxMicro: bigint, rule: FeeRule): void => {
  if (input.unit_price !== undefined && parseMicro(input.unit_price) > maxMicro)
    throw invalid('unit_price', 'must be at most max_amount, or no unit could be used');
  if (input.capture_threshold === undefined) return;
  if (input.capture !== 'usage')
    throw invalid('capture_threshold', 'is only for capture "usage"; leave it out, or send that');
  const threshold = parseMicro(input.capture_threshold);
  if (threshold > maxMicro) throw invalid('capture_threshold', 'must be at most max_amount');
  const fee = feeMicro(threshold, rule);
  if (threshold <= fee)
    throw invalid('capture_threshold', `must exceed its fee of ${fee} micro-units, or nothing is captured`);
};

/**
 * The capture terms of a quote. Null: its whole amount is paid when it is settled.
 * @throws ServiceError validation_error for fields that do not go together
 */
export const captureTerms = (input: Input, rule: FeeRule): CaptureTerms | null => {
  const { capture = 'automatic' } = input;
  if (capture === 'automatic') {
    refuseFields(input, OF_CAPTURE, 'needs capture "manual" or "usage"');
    return null;
  }
  refuseFields(
    input,
    OF_PRICE,
    `is not for capture "${capture}"; send max_amount and capture_window_seconds`,
  );
  if (input.max_amount === undefined) throw invalid('max_amount', `is required with capture "${capture}"`);
  if (input.scope?.units !== undefined)
    throw invalid('scope.units', 'prepays units, which excludes a capture; send unit_price for use in units');
  checkAmounts(input, parseMicro(input.max_amount), rule);
  return {
    mode: capture,
    window_seconds: input.capture_window_seconds ?? CAPTURE_WINDOW_SECONDS.default,
    unit_price: input.unit_price ?? null,
    threshold: input.capture_threshold ?? null,
    fee: { bps: Number(rule.bps), min: formatMicro(rule.minMicro) },
  };
};

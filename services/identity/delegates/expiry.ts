import { invalid } from '../../../shared/contract/errors.ts';
import { parseUtcTime } from '../../../shared/contract/utc-time.ts';
import type { Clock } from '../../../shared/lib/clock.ts';

/**
 * Epoch milliseconds of an expiry in the future.
 * @throws ServiceError validation_error
 */
export const parseExpiry = ({ clock }: { clock: Clock }, text: string): number => {
  const time = parseUtcTime(text);
  if (time > clock()) return time;
  throw invalid('expires_at', 'must be in the future');
};

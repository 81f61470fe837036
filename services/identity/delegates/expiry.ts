import { invalid } from '../../../shared/contract/errors.ts';
import type { Clock } from '../../../shared/lib/clock.ts';

/**
 * Epoch milliseconds of an expiry in the future.
 * @throws ServiceError validation_error
 */
export const parseExpiry = ({ clock }: { clock: Clock }, text: string): number => {
  const time = Date.parse(text);
  // A date such as the 30th of February parses to another date, or to none.
  const isDate = !Number.isNaN(time) && new Date(time).toISOString().slice(0, 19) === text.slice(0, 19);
  if (isDate && time > clock()) return time;
  throw invalid('expires_at', isDate ? 'must be in the future' : 'must be a date that exists');
};

import { microOf } from '../../amounts.ts';
import type { Client } from '../../client.ts';
import { ApiError } from '../../errors.ts';
import { ConfigurationError, faultOfQuote } from '../base/configuration.ts';

/** The check of a vendor's settings at the start of its program. */

/** Above every fee, where no route has a price of its own. */
const ANY_PRICE = '1000000';
/** The shortest life of a quote. Nobody gets this one. */
const LIFE_SECONDS = 1;

const leastOf = (prices: readonly string[]): string =>
  prices
    .map((price) => microOf(price))
    .sort((one, other) => (one < other ? -1 : 1))[0]
    ?.toString() ?? ANY_PRICE;

/** A refusal that only other settings change, as a sentence about the setting. */
const faultOf = (error: unknown, serviceId: string, amount: string): unknown => {
  const fault = faultOfQuote(error, serviceId, amount);
  if (!(fault instanceof ApiError) || fault.retryable) return fault;
  const { status, message } = fault;
  return status === 401 || status === 403
    ? new ConfigurationError(`serviceKey: ${message}`, { cause: error })
    : new ConfigurationError(message, { cause: error });
};

/**
 * Asks the API for a quote of the lowest price, which nobody gets. This shows whether it accepts
 * the key, the service, and a price that exceeds the fee.
 * @throws ConfigurationError in one sentence; ApiError or NoAnswerError if the API cannot answer
 */
export const checkVendor = async ({
  client,
  serviceId,
  publicUrl,
  prices,
  signal,
}: {
  client: Client;
  serviceId: string;
  publicUrl: string;
  prices: readonly string[];
  signal?: AbortSignal;
}): Promise<void> => {
  const quote_amount = leastOf(prices);
  const scope = { resource: publicUrl, trial: true };
  const terms = { service_id: serviceId, quote_amount, scope, expires_in_seconds: LIFE_SECONDS };
  await client.quote.create(terms, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    throw faultOf(error, serviceId, quote_amount);
  });
};

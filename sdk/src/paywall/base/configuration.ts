import { ApiError } from '../../errors.ts';
import { NotFoundError } from '../../generated/errors.ts';
import { displayUsdc, plainUsdc } from '../../generated/usdc.ts';
import type { Incoming } from './incoming.ts';
import { CONFIGURATION, type LogError } from './log.ts';

/** Faults of a vendor's own configuration, in words that name the option and its right value. */

/** Only the vendor can change it. The buyer gets 503. */
export class ConfigurationError extends TypeError {
  override readonly name: string = CONFIGURATION;
}

/** The API names amounts in micro-units, because it serves every client. */
const FEE = /\bfee of (\d{1,19}) micro-units\b.*\bat least "(\d{1,19})"/;

const faultOfPrice = (error: ApiError, amount: string): unknown => {
  const said = error.details.find(({ path }) => path === 'quote_amount')?.message;
  const [, fee, least] = FEE.exec(said ?? '') ?? [];
  if (fee === undefined || least === undefined) return error;
  return new ConfigurationError(
    `price: ${displayUsdc(amount)} is not more than the fee of ${displayUsdc(fee)}, which you pay out of it; use at least '$${plainUsdc(least)}'`,
  );
};

/**
 * The refusal of a quote as the fault of an option, or unchanged if it is about nothing of ours.
 */
export const faultOfQuote = (error: unknown, serviceId: string, amount: string): unknown => {
  if (error instanceof NotFoundError)
    return new ConfigurationError(
      `serviceId ${serviceId} is not a service of this key; the console shows the services of its account under Services`,
      { cause: error },
    );
  return error instanceof ApiError ? faultOfPrice(error, amount) : error;
};

const hostIn = (protocol: string, text: string | null): string | null => {
  const called = `${protocol}//${text?.split(',')[0]?.trim()}`;
  return text !== null && URL.canParse(called) ? new URL(called).host : null;
};

/**
 * Reports once that a request came to another address than the public one, because its buyer
 * refuses a quote for another address, and the vendor sees nothing of that. The caller chooses
 * these headers, so they change nothing else.
 */
export const createAddressCheck = (publicUrl: string, logError: LogError) => {
  const { protocol, host, pathname } = new URL(publicUrl);
  let isReported = false;
  return (incoming: Incoming, resource: string): void => {
    if (isReported) return;
    const called = hostIn(protocol, incoming.header('x-forwarded-host') ?? incoming.header('host'));
    const prefix = incoming.header('x-forwarded-prefix')?.replace(/\/+$/, '') ?? '';
    const hasPrefix = prefix === '' || pathname === prefix || pathname.endsWith(prefix);
    if ((called === null || called === host) && hasPrefix) return;
    isReported = true;
    logError(
      new ConfigurationError(
        `a request came to ${called ?? host}${prefix}, and its quote is for ${resource}, by publicUrl. Buyers refuse a quote for another ` +
          'address than they have called. If they call the first one, change publicUrl; if a proxy changes the address, this is as it should be',
      ),
      { resource },
    );
  };
};

import { wrapFetchWithPayment } from '@x402/fetch';
import { clientOf } from './client.mjs';

/**
 * A fetch that pays, as in the documentation of @x402/fetch.
 * @param settings those of `clientOf`
 */
export const payingFetchOf = async (settings) => wrapFetchWithPayment(fetch, await clientOf(settings));

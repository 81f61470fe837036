/**
 * What an adapter of another server needs besides `@quittance/sdk/vendor`: how it asks the
 * paywall, and the rules by which it reads routes, paths and amounts as the paywall does.
 * `quittance-gate` is built on it.
 */
export { microOf, typedFault } from '../amounts.ts';
export { boundedMap } from '../bounded-map.ts';
export { resourceOf } from '../checks/resource.ts';
export { createTokenVerifier } from '../checks/tokens.ts';
export { isEventStream } from '../event-stream.ts';
export { nearest } from '../generated/nearest.ts';
export { displayUsdc, plainUsdc } from '../generated/usdc.ts';
export { ANSWER_HEADERS, PAYMENT_HEADERS, TRIAL_HEADER } from '../pay/base/dialects.ts';
export { USDC_MINTS } from '../pay/outgoing/mpp-offers.ts';
export { RETURN_PARAMETER } from '../payment-page.ts';
export { useProxies } from '../programs/proxies.ts';
export { captureNode, headerOf } from './adapters/node.ts';
export { IN_PROGRESS, isDelivered, refuse, unavailable } from './base/answers.ts';
export { ConfigurationError } from './base/configuration.ts';
export { delivered, FAILED, GONE } from './base/ends.ts';
export { isMetered, meteredBillOf, unpayingOf } from './base/metered-route.ts';
export { ESCAPED_SLASH, readPath } from './base/path.ts';
export { checkRoute } from './base/route.ts';
export type { Admission } from './entry/admission.ts';
export { checkVendor } from './entry/start-check.ts';

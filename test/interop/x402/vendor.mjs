import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactSvmScheme } from '@x402/svm/exact/server';

/**
 * What a vendor of @x402/express and of @x402/hono configures in the same way: one paid route.
 * @param settings `facilitatorUrl`, `serviceKey` (or null), `network`, `payTo`, `path` (default
 *   `/paid`), `price` (default `$0.05`), `paymentFlow` (default: the packages' own)
 */
export const resourceOf = (
  { facilitatorUrl, serviceKey = null, network, payTo, path = '/paid', price = '$0.05', paymentFlow },
  ResourceServer,
) => {
  const headers = { authorization: `Bearer ${serviceKey}` };
  const facilitator = new HTTPFacilitatorClient({
    url: facilitatorUrl,
    ...(serviceKey && {
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
    }),
  });
  const server = new ResourceServer(facilitator).register(network, new ExactSvmScheme());
  const accepts = { scheme: 'exact', network, payTo, price, ...(paymentFlow && { extra: { paymentFlow } }) };
  return { routes: { [`GET ${path}`]: { accepts, description: 'A paid resource' } }, server };
};

import type { Route } from './route-settings.ts';

type Asking = {
  /** Another proxy asks (mode authorize). */
  isAsked: boolean;
  /** A proxy before the gate names the address of the caller. */
  trustsProxies: boolean;
};

/** What is wrong with the routes of a gate as a whole, or null. */
export const routesFault = (
  routes: readonly Pick<Route, 'match' | 'free' | 'max'>[],
  { isAsked, trustsProxies }: Asking,
): string | null => {
  if (routes.every(({ free }) => free === true))
    return "no route has a price: name one, like 'GET /report=0.05'";
  if (!isAsked) return null;
  const metered = routes.find(({ max }) => max !== undefined);
  if (metered !== undefined)
    return `'${metered.match}' is metered: its price is known after the answer, which mode authorize does not see`;
  const counted = routes.find(({ free }) => typeof free === 'object' && free.by === undefined);
  return counted === undefined || trustsProxies
    ? null
    : `'${counted.match}' has free calls by address, and mode authorize sees the address of the proxy: use trust_proxy, and let the proxy set X-Forwarded-For`;
};

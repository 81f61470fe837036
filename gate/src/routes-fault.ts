import type { Route } from './route-settings.ts';

/**
 * What is wrong with the routes of a gate as a whole, or null.
 * @param isAsked another proxy asks (mode authorize)
 */
export const routesFault = (
  routes: readonly Pick<Route, 'match' | 'free' | 'max'>[],
  isAsked: boolean,
): string | null => {
  if (routes.every(({ free }) => free === true))
    return "no route has a price: name one, like 'GET /report=0.05'";
  const metered = routes.find(({ max }) => max !== undefined);
  return isAsked && metered !== undefined
    ? `'${metered.match}' is metered: its price is known after the answer, which mode authorize does not see`
    : null;
};

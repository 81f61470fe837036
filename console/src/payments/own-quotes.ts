/**
 * Which quotes were made for buyers. The console's own are for addresses of its own, and a program
 * that only tries a price says so, which makes `trial` of the scope.
 */

/** The shop of a trial. Nothing listens there: the page calls the handler. */
export const TRIAL_SHOP = 'https://try.example';
/** Of demo data. */
export const DEMO_SHOP = 'https://demo.example';

/** Whether a quote came from the vendor's own code, and a buyer may have it. */
export const isForBuyers = ({ scope }: { scope: Readonly<Record<string, unknown>> | null }): boolean => {
  if (scope?.trial === true) return false;
  const resource = scope?.resource;
  if (typeof resource !== 'string') return true;
  return ![TRIAL_SHOP, DEMO_SHOP].some((own) => resource.startsWith(`${own}/`));
};

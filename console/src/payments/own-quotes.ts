/**
 * The addresses that the console's own quotes are for. A quote for another address, or for none, is
 * one of the vendor's server.
 */

/** The shop of a trial. Nothing listens there: the page calls the handler. */
export const TRIAL_SHOP = 'https://try.example';
/** Of demo data. */
export const DEMO_SHOP = 'https://demo.example';

/** Whether a quote came from the vendor's own code. */
export const isFromServer = ({ scope }: { scope: Readonly<Record<string, unknown>> | null }): boolean => {
  const resource = scope?.resource;
  if (typeof resource !== 'string') return true;
  return ![TRIAL_SHOP, DEMO_SHOP].some((own) => resource.startsWith(`${own}/`));
};

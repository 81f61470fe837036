import { payExternal } from './pay-external.ts';
import { reportExternal } from './report-external.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const outgoingPaymentOperations = (
  deps: Parameters<typeof payExternal>[0] & Parameters<typeof reportExternal>[0],
) => ({
  payExternal: payExternal(deps),
  reportExternal: reportExternal(deps),
});

import { type PayExternalDeps, payExternal } from './pay-external.ts';
import { type ReportExternalDeps, reportExternal } from './report-external.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const outgoingPaymentOperations = (deps: PayExternalDeps & ReportExternalDeps) => ({
  payExternal: payExternal(deps),
  reportExternal: reportExternal(deps),
});

import { acceptForeign } from './accept-foreign.ts';
import { foreignTerms } from './foreign-terms.ts';
import { recordHandOut } from './record-hand-out.ts';
import { reissueForeign } from './reissue-foreign.ts';
import { x402Settle } from './x402-settle.ts';
import { x402Supported } from './x402-supported.ts';
import { x402Verify } from './x402-verify.ts';

type Deps = Parameters<typeof acceptForeign>[0] &
  Parameters<typeof foreignTerms>[0] &
  Parameters<typeof recordHandOut>[0] &
  Parameters<typeof x402Verify>[0] &
  Parameters<typeof x402Settle>[0];

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const incomingPaymentOperations = (deps: Deps) => ({
  acceptForeign: acceptForeign(deps),
  foreignTerms: foreignTerms(deps),
  recordHandOut: recordHandOut(deps),
  reissueForeign: reissueForeign(deps),
  x402Settle: x402Settle(deps),
  x402Supported: x402Supported(deps),
  x402Verify: x402Verify(deps),
});

import type { Peers } from '../peers.ts';
import { type AcceptForeignDeps, acceptForeign } from './accept-foreign.ts';
import { followPhonePayment } from './follow-phone-payment.ts';
import { type ForeignTermsDeps, foreignTerms } from './foreign-terms.ts';
import { getBlockhash } from './get-blockhash.ts';
import { type PayLinkDeps, payLink } from './pay-link.ts';
import { type PayLinkByPhoneDeps, payLinkByPhone } from './pay-link-by-phone.ts';
import { type RedeemDeps, recordHandOut } from './record-hand-out.ts';
import { redeemLinkPayment } from './redeem-link-payment.ts';
import { reissueForeign } from './reissue-foreign.ts';
import { type X402SettleDeps, x402Settle } from './x402-settle.ts';
import { x402Supported } from './x402-supported.ts';
import { type X402VerifyDeps, x402Verify } from './x402-verify.ts';

type Deps = AcceptForeignDeps &
  ForeignTermsDeps &
  RedeemDeps &
  PayLinkDeps &
  PayLinkByPhoneDeps &
  X402VerifyDeps &
  X402SettleDeps &
  Pick<Peers, 'readBlockhash'>;

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const incomingPaymentOperations = (deps: Deps) => ({
  acceptForeign: acceptForeign(deps),
  followPhonePayment: followPhonePayment(deps),
  foreignTerms: foreignTerms(deps),
  getBlockhash: getBlockhash(deps),
  payLink: payLink(deps),
  payLinkByPhone: payLinkByPhone(deps),
  recordHandOut: recordHandOut(deps),
  redeemLinkPayment: redeemLinkPayment(deps),
  reissueForeign: reissueForeign(deps),
  x402Settle: x402Settle(deps),
  x402Supported: x402Supported(deps),
  x402Verify: x402Verify(deps),
});

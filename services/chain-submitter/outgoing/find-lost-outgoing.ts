import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { outgoingIntentId } from '../ledger/intent-id.ts';
import { type LostDeps, searchForCaller } from './lost-payment.ts';

/** Searches for a payment whose attempt is refused, so that no refusal denies a paid one. */
export const findLostOutgoing =
  (deps: LostDeps): Handler<typeof chainSubmitter.internal.findLostOutgoing> =>
  async ({ lost, ...attempt }) => {
    const found = await searchForCaller(deps, { intentId: outgoingIntentId(attempt), ...attempt }, lost);
    if ('paid' in found) return { found: 'paid', transactions: [found.paid.signature] };
    const { undecided } = found;
    return { found: undecided.length > 0 ? 'undecided' : 'none', transactions: [...undecided] };
  };

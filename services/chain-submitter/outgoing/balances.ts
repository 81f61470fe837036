import { readForCaller } from '../chain/read-for-caller.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Network } from '../ledger/model/network.ts';
import { refuse } from './refusal.ts';
import { grossOf, type OutgoingTerms } from './terms.ts';

type Deps = { network: Network; tokenAccounts: Pick<TokenAccounts, 'list'> };

/**
 * Checks the token accounts of a payment. Those of payees must exist: nobody pays their rent.
 * @throws PaymentRefusal; ServiceError service_unavailable when the chain cannot be read
 */
export const checkBalances = async ({ tokenAccounts }: Deps, terms: OutgoingTerms): Promise<void> => {
  const { owner, authority, legs } = terms;
  const payTo = [...new Set(legs.map((leg) => leg.payTo))];
  const { accounts } = await readForCaller(tokenAccounts.list([owner, ...payTo]));
  const [source, ...payees] = accounts;
  const amountMicro = grossOf(terms);
  if (payees.length !== payTo.length || payees.some((payee) => payee.state !== 'ready' || payee.frozen))
    return refuse('payee_without_token_account', 'the payee has no token account that can be paid');
  if (source?.state !== 'ready' || source.frozen)
    return refuse('insufficient_funds', 'the wallet has no token account that can pay');
  if (source.balanceMicro < amountMicro) refuse('insufficient_funds', 'the wallet’s balance is too small');
  if (source.delegate !== authority)
    refuse('delegation_inactive', 'the wallet has not given its spending limit to the delegate authority');
  if (source.allowanceMicro < amountMicro)
    refuse('delegation_inactive', 'the wallet’s spending limit is too small');
};

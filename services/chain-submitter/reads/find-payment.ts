import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { readToken } from '../../../shared/lib/tokens/compact-token.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import { listSignaturesUnder, readBalanceChanges } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { paidQuote } from '../ledger/model/payment.ts';
import { referenceOf } from '../ledger/reference.ts';

/**
 * Searches the chain for a payment of a quote, whether or not it is recorded here. Anybody may name
 * the reference in a transaction. Only one that moved the net to the vendor and the fee to the
 * platform is a payment.
 */
export const findPayment =
  ({
    rpc,
    network,
    environment,
    keys,
  }: {
    rpc: RpcPool;
    network: Network;
    environment: string;
    keys: PublicKeys;
  }): Handler<typeof chainSubmitter.internal.findPayment> =>
  async ({ quote_token, owners }) => {
    const claims = readToken('quote', quote_token, { env: environment, keys }).claimsFor('followUp');
    const grossMicro = parseMicro(claims.quote_amount);
    const feeMicro = parseMicro(claims.fee_amount);
    const payoutAccount = tokenAccountOf(claims.payout_address, network.mint);
    const reference = referenceOf(environment, claims.quote_id);
    const search = { reference, since: Date.parse(claims.issued_at) };
    let paid = false;
    for (const signature of await readForCaller(listSignaturesUnder(rpc, search, { everywhere: true }))) {
      const changes = await readForCaller(readBalanceChanges(rpc, signature));
      if (!paidQuote(changes, { payoutAccount, grossMicro, feeMicro }, network)) continue;
      paid = true;
      const owner = owners.find(
        (each) => changes.deltaOf(tokenAccountOf(each, network.mint)) === -grossMicro,
      );
      if (owner !== undefined) return { paid, owner };
    }
    return { paid, owner: null };
  };

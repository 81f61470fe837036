import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { readToken } from '../../../shared/lib/compact-token.ts';
import { feeMicro } from '../../../shared/lib/fee.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/micro.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import { listSignaturesUnder, readAllBalanceChanges } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { capturedOf } from '../ledger/model/payment.ts';
import { referenceOf } from '../ledger/reference.ts';

/**
 * Searches the chain for the capture of a quote with a ceiling, whether or not it is recorded here.
 * The amount of a capture is not in the quote. So only a transaction counts that the platform has
 * signed: a payer could put a smaller one of its own under the reference.
 */
export const findCapture =
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
  }): Handler<typeof chainSubmitter.internal.findCapture> =>
  async ({ quote_token, owner }) => {
    const claims = readToken('quote', quote_token, { env: environment, keys }).claimsFor('followUp');
    if (claims.capture === undefined) throw conflict('the quote has no ceiling');
    const { bps, min } = claims.capture.fee;
    const rule = { bps: BigInt(bps), minMicro: parseMicro(min) };
    const sought = {
      source: tokenAccountOf(owner, network.mint),
      payoutAccount: tokenAccountOf(claims.payout_address, network.mint),
      feeOf: (grossMicro: bigint) => feeMicro(grossMicro, rule),
    };
    const search = {
      reference: referenceOf(environment, claims.quote_id),
      since: Date.parse(claims.issued_at),
    };
    for (const signature of await readForCaller(listSignaturesUnder(rpc, search, { everywhere: true }))) {
      // From all providers, so that no single one can deny it.
      for (const changes of await readForCaller(readAllBalanceChanges(rpc, signature))) {
        const amountMicro = capturedOf(changes, sought, network);
        if (amountMicro !== null) return { amount: formatMicro(amountMicro) };
      }
    }
    return { amount: null };
  };

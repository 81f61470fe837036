import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import { RpcRefused, RpcUnavailable } from '../chain/json-rpc.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { transfersInto } from '../ledger/model/transfers.ts';

/** Amounts on the wire end at 2^63-1, which is far more than all USDC in existence. */
const MAX_WIRE_MICRO = 2n ** 63n - 1n;

/**
 * A finalized transaction from the first provider that has it. A provider that lags, or that has a
 * short history, does not prove its absence. A text that is no signature is refused by every
 * provider and stays unknown.
 */
const findFinalized = async ({ providers }: RpcPool, signature: string) => {
  const answers = await Promise.allSettled(providers.map((provider) => provider.finalized(signature)));
  const good = answers.flatMap((answer) => {
    if (answer.status === 'fulfilled') return [answer.value];
    return answer.reason instanceof RpcRefused ? [null] : [];
  });
  if (good.length === 0) throw new RpcUnavailable('no provider answers');
  return good.find((transaction) => transaction !== null) ?? null;
};

/**
 * The transfers of a transaction into an owner's token account. Only a finalized transaction
 * counts, because a deposit is completed once and for all, and a fork may still drop a confirmed
 * transaction.
 */
export const observeTransfers =
  ({
    rpc,
    network: { mint },
  }: {
    rpc: RpcPool;
    network: Network;
  }): Handler<typeof chainSubmitter.internal.observeTransfers> =>
  async ({ tx_hash, owner }) => {
    const found = await readForCaller(findFinalized(rpc, tx_hash));
    if (found === null) return { status: 'unknown', transfers: [] };
    if (found.meta.err !== null) return { status: 'failed', transfers: [] };
    const tokenAccount = tokenAccountOf(owner, mint);
    return {
      status: 'finalized',
      transfers: transfersInto(found, { tokenAccount, owner, mint })
        .filter(({ amountMicro }) => amountMicro <= MAX_WIRE_MICRO)
        .map(({ instruction, source, amountMicro }) => ({
          instruction,
          source,
          amount: formatMicro(amountMicro),
        })),
    };
  };

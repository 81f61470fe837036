import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { tokenAccountOf } from './addresses.ts';
import type { Network } from './model/network.ts';
import { transfersInto } from './model/transfers.ts';
import { readForCaller } from './read-for-caller.ts';
import { type Rpc, RpcRefused, RpcUnavailable } from './rpc-pool.ts';

/** The amounts of the wire end at 2^63-1, far above all USDC there is. */
const MAX_WIRE = 2n ** 63n - 1n;

/**
 * The first provider that knows it counts: one that lags or keeps a short history says nothing by knowing nothing. A
 * text that is no signature is refused by all, so it is unknown for ever.
 */
const find = async ({ providers }: Rpc, signature: string) => {
  const answers = await Promise.allSettled(providers.map((provider) => provider.finalized(signature)));
  const good = answers.flatMap((answer) => {
    if (answer.status === 'fulfilled') return [answer.value];
    return answer.reason instanceof RpcRefused ? [null] : [];
  });
  if (good.length === 0) throw new RpcUnavailable('no provider answers');
  return good.find((changes) => changes !== null) ?? null;
};

/**
 * What a transaction moved into an owner's token account. Finalized only: a deposit is completed by this once and for
 * all, and what is merely confirmed may still be forked away.
 */
export const observeTransfers =
  ({
    rpc,
    network: { mint },
  }: {
    rpc: Rpc;
    network: Network;
  }): Handler<typeof chainSubmitter.internal.observeTransfers> =>
  async ({ tx_hash, owner }) => {
    const changes = await readForCaller(find(rpc, tx_hash));
    if (changes === null) return { status: 'unknown', transfers: [] };
    if (changes.meta.err !== null) return { status: 'failed', transfers: [] };
    const tokenAccount = tokenAccountOf(owner, mint);
    return {
      status: 'finalized',
      transfers: transfersInto(changes, { tokenAccount, owner, mint })
        .filter(({ amountMicro }) => amountMicro <= MAX_WIRE)
        .map(({ instruction, source, amountMicro }) => ({
          instruction,
          source,
          amount: formatMicro(amountMicro),
        })),
    };
  };

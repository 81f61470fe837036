import type { z } from 'zod';
import type { chainSubmitter, WalletSight } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { tokenAccountOf } from '../addresses.ts';
import type { Deps } from '../deps.ts';
import { reading } from '../reading.ts';

/** The wire's amounts end at 2^63-1, while an allowance may be any u64: "unlimited" is given as the largest. */
const MAX_WIRE = 2n ** 63n - 1n;
const wireAmount = (micro: bigint): string => formatMicro(micro > MAX_WIRE ? MAX_WIRE : micro);

/** Balance and delegation of an owner's token account at confirmed commitment. */
export const observeWallet =
  ({ chain, network }: Deps): Handler<typeof chainSubmitter.internal.observeWallet> =>
  async ({ owner }): Promise<z.infer<typeof WalletSight>> => {
    const { slot, account } = await reading(chain.tokenAccount(owner));
    const ready = account.state === 'ready' ? account : null;
    return {
      token_account: tokenAccountOf(owner, network.mint),
      exists: ready !== null,
      balance: wireAmount(ready?.balanceMicro ?? 0n),
      delegate: ready?.delegate ?? null,
      allowance: wireAmount(ready?.allowanceMicro ?? 0n),
      slot,
    };
  };

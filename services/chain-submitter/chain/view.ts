import type { z } from 'zod';
import type { WalletSnapshot } from '../../../shared/contract/chain-submitter.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { tokenAccountOf } from './addresses.ts';
import type { Network } from './model/network.ts';
import type { TokenAccount } from './model/token-account.ts';

/** The wire's amounts end at 2^63-1, while an allowance may be any u64: "unlimited" is given as the largest. */
const MAX_WIRE = 2n ** 63n - 1n;
const wireAmount = (micro: bigint): string => formatMicro(micro > MAX_WIRE ? MAX_WIRE : micro);

/** An owner's token account as the other services are told of it. */
export const toWalletSnapshot = (
  owner: string,
  account: TokenAccount,
  { network, slot }: { network: Pick<Network, 'mint' | 'delegateAuthorities'>; slot: number },
): z.infer<typeof WalletSnapshot> => {
  const ready = account.state === 'ready' ? account : null;
  const delegate = ready?.delegate ?? null;
  return {
    token_account: tokenAccountOf(owner, network.mint),
    exists: ready !== null,
    balance: wireAmount(ready?.balanceMicro ?? 0n),
    delegate,
    served: delegate !== null && network.delegateAuthorities.includes(delegate),
    allowance: wireAmount(ready?.allowanceMicro ?? 0n),
    slot,
  };
};

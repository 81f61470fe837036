import type { z } from 'zod';
import type { WalletSnapshot } from '../../../shared/contract/chain-submitter.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import type { Network } from '../ledger/model/network.ts';
import type { TokenAccount } from '../ledger/model/token-account.ts';

/**
 * An allowance may be any u64, and amounts on the wire end at 2^63-1. A larger allowance is shown
 * as that maximum.
 */
const MAX_WIRE_MICRO = 2n ** 63n - 1n;
const wireAmount = (micro: bigint): string => formatMicro(micro > MAX_WIRE_MICRO ? MAX_WIRE_MICRO : micro);

/** An owner's token account as other services get it. */
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

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/lib/logger.ts';
import { USDC_DECIMALS } from '../transactions/instructions/shared.ts';
import type { Network } from './model/network.ts';
import { readMintDecimals, readTokenAccount } from './model/token-account.ts';
import { type Rpc, RpcRefused, RpcUnavailable } from './rpc-pool.ts';

const RETRY_MS = 1000;

/** What differs between the configuration and the chain, null when all agrees. May throw RpcUnavailable. */
const findDifference = async (rpc: Rpc, genesisHash: string, network: Network): Promise<string | null> => {
  for (const provider of rpc.providers) {
    if ((await provider.genesisHash()) !== genesisHash)
      return `provider ${provider.number} is on another chain than GENESIS_HASH says`;
    // From the first read on each is compared with the others.
    rpc.see(provider.number, (await provider.latestBlockhash()).context.slot);
  }
  const { mint, feeAccount, feeWallet } = network;
  const { accounts } = await rpc.accounts([mint, feeAccount]);
  if (readMintDecimals(accounts[0] ?? null) !== USDC_DECIMALS)
    return `USDC_MINT is not a mint of the token program with ${USDC_DECIMALS} decimals`;
  const fee = readTokenAccount(accounts[1] ?? null, { owner: feeWallet, mint });
  return fee.state === 'ready' ? null : 'FEE_WALLET has no token account of the mint';
};

/**
 * Compares the chain with the configuration before anything is served (docs/spec/decisions.md,
 * Environments); waits while providers are away.
 * @throws Error on a difference: test keys on another chain, or another mint, must never sign
 */
export const verifyNetwork = async (
  rpc: Rpc,
  { genesisHash, network, logger }: { genesisHash: string; network: Network; logger: Logger },
): Promise<void> => {
  for (;;) {
    try {
      const found = await findDifference(rpc, genesisHash, network);
      if (found !== null) throw new Error(found);
      return;
    } catch (error) {
      if (!(error instanceof RpcUnavailable) && !(error instanceof RpcRefused)) throw error;
      logger.warn({ err: error }, 'the chain cannot be read yet');
      await sleep(RETRY_MS);
    }
  }
};

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { RpcRefused, RpcUnavailable } from '../chain/json-rpc.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { readMintDecimals, readTokenAccount } from '../ledger/model/token-account.ts';
import { USDC_DECIMALS } from '../transactions/instructions/shared.ts';

const RETRY_MS = 1000;

/**
 * The difference between the configuration and the chain; null when they agree. May throw
 * RpcUnavailable.
 */
const findDifference = async (
  rpc: RpcPool,
  genesisHash: string,
  network: Network,
): Promise<string | null> => {
  for (const provider of rpc.providers) {
    if ((await provider.genesisHash()) !== genesisHash)
      return `provider ${provider.number} is on another chain than GENESIS_HASH`;
    // The slots are compared between the providers from the first read on.
    rpc.recordSlot(provider.number, (await provider.latestBlockhash()).context.slot);
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
 * Environments). Waits while providers are unavailable.
 * @throws Error on a difference, because keys must never sign on another chain or for another mint
 */
export const verifyNetwork = async (
  rpc: RpcPool,
  { genesisHash, network, logger }: { genesisHash: string; network: Network; logger: Logger },
): Promise<void> => {
  for (;;) {
    try {
      const found = await findDifference(rpc, genesisHash, network);
      if (found !== null) throw new Error(found);
      return;
    } catch (error) {
      if (!(error instanceof RpcUnavailable) && !(error instanceof RpcRefused)) throw error;
      logger.warn({ err: error }, 'chain cannot be read yet, trying again');
      await sleep(RETRY_MS);
    }
  }
};

import { openBase, runService } from '../../shared/boot.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { tokenAccountOf } from './chain/addresses.ts';
import { createLamportsReader, openRpcPool } from './chain/rpc-pool.ts';
import { config as schema } from './config.ts';
import type { Network } from './ledger/model/network.ts';
import { verifyNetwork } from './reads/verify-network.ts';
import { createService } from './service.ts';
import { openSigners } from './signing/open-signers.ts';

const config = loadConfig(schema);
const base = await openBase('chain-submitter', config);
const { logger } = base;

/** Ends the process with a fault that an operator must correct. */
const refuseToStart = (error: unknown, message: string): never => {
  logger.fatal({ err: error }, message);
  process.exit(78); // EX_CONFIG of sysexits.h
};

const { numbers, ...signers } = await openSigners(config, logger).catch((error: unknown) =>
  refuseToStart(error, 'a configured key cannot be used'),
);
const feePayers = signers.feePayers.map(({ publicKey }) => publicKey);
const network: Network = {
  mint: config.USDC_MINT,
  feePayer: feePayers[0]!,
  payingFeePayers: feePayers.slice(0, config.FEE_PAYERS_IN_USE),
  feePayers,
  delegateAuthorities: signers.delegateAuthorities.map(({ publicKey }) => publicKey),
  fundingAuthority: signers.fundingAuthority?.publicKey ?? null,
  feeWallet: config.FEE_WALLET,
  feeAccount: tokenAccountOf(config.FEE_WALLET, config.USDC_MINT),
  computeBudget: config.COMPUTE_BUDGET ?? null,
};
const rpc = openRpcPool(config.SOLANA_RPC_URLS);
try {
  await verifyNetwork(rpc, { genesisHash: config.GENESIS_HASH, network, logger });
} catch (error) {
  refuseToStart(error, 'chain differs from the configuration');
}

const lamportsOf = createLamportsReader(config.SOLANA_RPC_URLS);
const chain = { network, rpc, signers, numbers, lamportsOf };
await runService(base, await createService(base, config, chain));

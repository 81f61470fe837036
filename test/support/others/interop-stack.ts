import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createVendor } from '../../../deploy/local/seed/actors.ts';
import { createApi, patientApi } from '../../../deploy/local/seed/api.ts';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import { networkOf } from '../../../deploy/local/stack/networks.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { interopChain } from './interop-chain.ts';

/** The test environment of a stack, as third-party software uses it. */
export const interopStack = (stack: Stack, stateDir: string) => {
  const { rpc_url: rpcUrl, usdc_mint: mint } = stack.environments.test!;
  const { mintAuthority } = environmentKeys(stateDir, 'test');
  const authority = Keypair.fromSecretKey(bs58.decode(mintAuthority.secretKey));
  const chain = interopChain({ rpcUrl, mint, mintAuthority: authority });
  const { caip2: network } = networkOf('test');
  return {
    chain,
    /** A vendor with a token account. The object is what the probes ask about. */
    newVendor: async () => {
      const payout = Keypair.generate();
      const payTo = await chain.payee(payout);
      const { apiKey } = await createVendor(patientApi(createApi(stack.gateway_url)), stack, { payout });
      const facilitator = { url: `${stack.gateway_url}/v1/x402`, serviceKey: apiKey };
      return { facilitator, chain, network, payTo };
    },
  };
};

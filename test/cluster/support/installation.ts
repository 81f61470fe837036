import path from 'node:path';
import { superuserPassword } from '../../../deploy/local/servers/postgres-server.ts';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { oneDatabase } from '../../../shared/db/databases.ts';
import { TRIAL_NAMESPACE } from '../../../tools/k8s/trial.ts';
import { openEdge } from './edge.ts';
import { type Kubectl, kubectl } from './kubectl.ts';

/** The trial's keys and generated settings. Other installations of this folder are beside it. */
export const TRIAL_FOLDER = path.resolve(import.meta.dirname, '../../../.local/cluster/trial');

/** The parts of a stack that an installation in a cluster has, for the clients of a stack. */
type ClusterStack = Pick<Stack, 'gateway_url' | 'gateway_urls' | 'mail_url' | 'postgres_urls'> & {
  environments: {
    test: Pick<Stack['environments'][string], 'rpc_url' | 'usdc_mint' | 'fee_wallet' | 'fee_payer'>;
  };
};

/** A running installation, reached through forwarded ports. `close` ends them. */
export type Installation = { kubectl: Kubectl; stack: ClusterStack; close: () => Promise<void> };

/** Opens the trial that is applied in a context: its addresses on this machine. */
export const openInstallation = async (context: string): Promise<Installation> => {
  const own = kubectl(context, TRIAL_NAMESPACE);
  const { addresses, close } = await openEdge(own);
  const keys = environmentKeys(TRIAL_FOLDER, 'test');
  const gateway = `http://${addresses.gateway}`;
  const stack: ClusterStack = {
    gateway_url: gateway,
    gateway_urls: [gateway],
    mail_url: `http://${addresses.mail}`,
    postgres_urls: oneDatabase(
      `postgres://postgres:${superuserPassword(TRIAL_FOLDER)}@${addresses['postgres-rw']}/quittance_test`,
    ),
    environments: {
      test: {
        rpc_url: `http://${addresses.chain}`,
        usdc_mint: keys.mint,
        fee_wallet: keys.feeWallet.address,
        fee_payer: keys.feePayer.address,
      },
    },
  };
  return { kubectl: own, stack, close };
};

/**
 * The installation of a test of the cluster, whose command has set CLUSTER_CONTEXT.
 */
export const runningInstallation = (): Promise<Installation> => {
  const context = process.env.CLUSTER_CONTEXT;
  if (context === undefined)
    throw new Error('CLUSTER_CONTEXT is not set: run `npm run prove -- cluster --context NAME`');
  return openInstallation(context);
};

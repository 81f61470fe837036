// Prints the Secrets of an installation for `kubectl apply --filename -` (docs/kubernetes.md). The
// output contains all keys.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { readCommandLine, refuse } from '../deploy/local/processes/command-line.ts';
import { type ClusterEnvironment, clusterSecrets } from './k8s/secrets.ts';
import { trialSecrets, writeTrial } from './k8s/trial.ts';

const USAGE = `Usage
  node tools/cluster-secrets.ts --trial
  node tools/cluster-secrets.ts --single-node
  node tools/cluster-secrets.ts --environment test --rpc-urls https://… --smtp-url smtps://… [--environment live …]

--trial also writes the kustomization that k8s/overlays/trial needs into <keys>/trial. Pass --rpc-urls once for each --environment. The first call creates the keys in --keys <folder> (default .local/cluster), and
later calls reuse them. The output contains all keys.`;

const { values } = readCommandLine(USAGE, {
  options: {
    trial: { type: 'boolean', default: false },
    'single-node': { type: 'boolean', default: false },
    environment: { type: 'string', multiple: true, default: [] },
    'rpc-urls': { type: 'string', multiple: true, default: [] },
    'smtp-url': { type: 'string', default: '' },
    keys: { type: 'string', default: path.resolve(import.meta.dirname, '../.local/cluster') },
  },
});

const print = (manifests: readonly object[]): void =>
  console.log(manifests.map((each) => stringify(each, { lineWidth: 0, version: '1.1' })).join('---\n'));

if (values.trial) {
  const folder = path.join(values.keys, 'trial');
  writeTrial(folder);
  print(trialSecrets(folder));
  process.exit(0);
}

const singleNode: ClusterEnvironment = {
  name: 'test',
  namespace: 'quittance',
  rpcUrls:
    values['rpc-urls'].length > 0 ? values['rpc-urls'][0]!.split(',') : ['https://api.devnet.solana.com'],
  smtpUrl: values['smtp-url'] || 'smtp://mail:1025',
};
const single = values['single-node'];
if (
  !single &&
  (values.environment.length === 0 ||
    values.environment.length !== values['rpc-urls'].length ||
    !values['smtp-url'])
) {
  refuse(
    `Pass --trial, --single-node, or one --rpc-urls for each --environment and one --smtp-url.\n\n${USAGE}`,
  );
}

mkdirSync(values.keys, { recursive: true, mode: 0o700 });
print(
  clusterSecrets({
    folder: values.keys,
    environments: single
      ? [singleNode]
      : values.environment.map((name, index) => ({
          name,
          namespace: `quittance-${name}`,
          rpcUrls: values['rpc-urls'][index]!.split(','),
          smtpUrl: values['smtp-url'],
        })),
    gatewayNamespace: single ? 'quittance' : 'quittance-gateway',
  }),
);

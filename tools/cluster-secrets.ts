// `npm run ops -- cluster-secrets`: the Secrets of an installation. The output contains all keys.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { flag, readCommandLine, refuse, text, texts } from '../deploy/local/processes/command-line.ts';
import { type ClusterEnvironment, clusterSecrets } from './k8s/secrets.ts';
import { trialSecrets, writeTrial } from './k8s/trial.ts';

const { values, usage } = readCommandLine({
  typed: 'npm run --silent ops -- cluster-secrets',
  about: `Prints the Secrets of an installation for \`kubectl apply --filename -\` (docs/kubernetes.md). The first call creates the
keys, and later calls reuse them. The output contains all keys.`,
  options: {
    trial: flag('those of k8s/overlays/trial; also writes the kustomization that it needs into KEYS/trial'),
    'single-node': flag('those of an installation on one node'),
    environment: texts('NAME', 'an environment, with the next two options; once for each'),
    'rpc-urls': texts(
      'URLS',
      "the environment's providers, with commas between them; once for each environment",
    ),
    'smtp-url': text('URL', 'the mail server', ''),
    'postgres-per-service': flag('each service has a Postgres of its own, by the component of that name'),
    keys: text('FOLDER', 'the folder of the keys', path.resolve(import.meta.dirname, '../.local/cluster')),
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
    `Pass --trial, --single-node, or one --rpc-urls for each --environment and one --smtp-url.\n\n${usage}`,
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
          hasOwnDatabases: values['postgres-per-service'],
        })),
    gatewayNamespace: single ? 'quittance' : 'quittance-gateway',
  }),
);

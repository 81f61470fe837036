import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { createLedger } from '../../deploy/local/chain/ledger.ts';
import { writeAtomically } from '../../deploy/local/processes/atomic-file.ts';
import { environmentKeys, genesisMint } from '../../deploy/local/stack/keys.ts';
import { HIGH_HOURLY_CAPS } from '../../deploy/local/stack/settings.ts';
import type { Manifest } from './manifests.ts';
import { clusterSecrets } from './secrets.ts';

/** The namespace of k8s/overlays/trial. */
export const TRIAL_NAMESPACE = 'quittance-trial';
const ENVIRONMENT = 'test';
/** A load test makes more calls than the limits of a single client allow. */
const LIMITS_SCALE = 10_000;
const overlay = path.resolve(import.meta.dirname, '../../k8s/overlays/trial');

/** An image's name in the manifests, and the name and tag under which the cluster finds it. */
export type RenamedImage = { name: string; newName: string; newTag: string };

/** The seed makes the chain's genesis hash known before the chain runs. */
const chainSeed = (folder: string): string => {
  const file = path.join(folder, 'chain-seed');
  if (!existsSync(file)) writeAtomically(file, randomBytes(32).toString('hex'), 0o600);
  return readFileSync(file, 'utf8').trim();
};

/**
 * Every Secret of the overlay `trial` and the public keys, for `kubectl apply`. The first call
 * creates the keys in `folder`, and later calls reuse them.
 */
export const trialSecrets = (folder: string): Manifest[] => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keys = environmentKeys(folder, ENVIRONMENT);
  const secret = (name: string, stringData: Record<string, string>): Manifest => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: TRIAL_NAMESPACE },
    stringData,
  });
  return [
    ...clusterSecrets({
      folder,
      environments: [
        {
          name: ENVIRONMENT,
          namespace: TRIAL_NAMESPACE,
          rpcUrls: ['http://chain:8901'],
          smtpUrl: 'smtp://mail:1025',
          issuesUsdc: true,
        },
      ],
      gatewayNamespace: TRIAL_NAMESPACE,
    }),
    secret('chain', { CHAIN_SEED: chainSeed(folder), CHAIN_GENESIS_MINT: genesisMint(keys) }),
    secret('seed', { ENVIRONMENT_KEYS: JSON.stringify(keys) }),
  ];
};

/**
 * Writes a kustomization into `folder`: the overlay `trial` with the settings that depend on its
 * keys. The first call creates the keys there.
 * @param images names under which the cluster finds the images, if they differ from the manifests'
 */
export const writeTrial = (folder: string, images: readonly RenamedImage[] = []): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { genesisHash } = createLedger(chainSeed(folder));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [path.relative(realpathSync(folder), overlay)],
    configMapGenerator: [
      { name: 'settings', namespace: TRIAL_NAMESPACE, behavior: 'merge', envs: ['settings.env'] },
      { name: 'limits', namespace: TRIAL_NAMESPACE, behavior: 'replace', files: ['limits.json'] },
    ],
    ...(images.length > 0 && { images }),
  };
  const settings = { GENESIS_HASH: genesisHash, ...HIGH_HOURLY_CAPS };
  writeAtomically(
    path.join(folder, 'settings.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  writeAtomically(path.join(folder, 'limits.json'), `${JSON.stringify({ scale: LIMITS_SCALE })}\n`);
  writeAtomically(path.join(folder, 'kustomization.yaml'), stringify(kustomization));
};

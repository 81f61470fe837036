import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

export const root = path.resolve(import.meta.dirname, '../../..');
export const OVERLAYS = ['test', 'live', 'gateway', 'single-node', 'trial'] as const;

// biome-ignore lint/suspicious/noExplicitAny: read at any depth, checked by its kind's type
export type Rendered = { kind: string; apiVersion: string; metadata: any } & Record<string, any>;

const parse = (text: string): Rendered[] =>
  parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return document.toJS() as Rendered;
  });

/** Why nothing can be rendered; null when `kubectl kustomize` works. */
export const missing = (): string | null => {
  const { status, error } = spawnSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
  return status === 0
    ? null
    : `kubectl with kustomize 5 is not available (${error?.message ?? `exit ${status}`})`;
};

/**
 * Renders what `kubectl apply --kustomize` would send, for an overlay or another folder.
 * @throws with the message of kustomize
 */
export const render = (overlay: string): Rendered[] => {
  const { status, stdout, stderr } = spawnSync(
    'kubectl',
    ['kustomize', path.resolve(root, 'k8s/overlays', overlay)],
    {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
    },
  );
  if (status !== 0) throw new Error(`${overlay}: ${stderr}`);
  return parse(stdout);
};

/**
 * The objects in k8s/ without the changes of an overlay. Patches are parts of objects and are left
 * out.
 */
export const written = (): Rendered[] =>
  globSync('k8s/**/*.yaml', { cwd: root })
    .filter((file) => !/kustomization\.yaml$|components\/nats\/passwords\.yaml$/.test(file))
    .sort()
    .flatMap((file) => parse(readFileSync(path.join(root, file), 'utf8')));

export const nameOf = ({ kind, metadata }: Rendered): string =>
  `${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${kind}/${metadata.name}`;

/** Whether an image is the product's, as the manifests name it, and not one of the sandbox. */
export const isProduct = (image: string): boolean => /^quittance(:|$)/.test(image);

/** The template of the pods that an object starts. */
export const podOf = ({ kind, spec }: Rendered) =>
  kind === 'CronJob'
    ? spec.jobTemplate.spec.template
    : ['Deployment', 'StatefulSet', 'Job'].includes(kind)
      ? spec.template
      : undefined;

import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** Renders an overlay with more components and patches. @throws with the message of kustomize */
export const renderWith = (
  overlay: string,
  namespace: string,
  components: readonly string[],
  patches: readonly object[] = [],
): Rendered[] => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'k8s-')));
  try {
    const relative = (place: string) => path.relative(folder, path.join(root, 'k8s', place));
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      namespace,
      resources: [relative(`overlays/${overlay}`)],
      components: components.map((component) => relative(`components/${component}`)),
      patches,
    };
    writeFileSync(path.join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return render(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * The objects in k8s/ without the changes of an overlay. Patches are parts of objects and are left
 * out.
 */
export const written = (): Rendered[] =>
  globSync('k8s/**/*.yaml', { cwd: root })
    .filter((file) => !/kustomization\.yaml$|components\/nats\/routes\.yaml$/.test(file))
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

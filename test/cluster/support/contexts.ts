import { spawnSync } from 'node:child_process';

/** How images come into the nodes of a cluster. */
export type ImageRoute =
  | { kind: 'in-nodes' }
  /** A prefix of image names, `registry.example/quittance`. */
  | { kind: 'registry'; prefix: string }
  /** A command that reads an archive of an image, whose path follows its last argument. */
  | { kind: 'archive'; command: string; before: string[]; after: string[] };

type RouteOptions = { registry: string; imagesInNodes: boolean };

/** Clusters on this machine, by the names that their tools give to contexts. */
const LOCAL: { pattern: RegExp; route: (name: string) => ImageRoute }[] = [
  {
    pattern: /^kind-(.+)$/,
    route: (name) => ({
      kind: 'archive',
      command: 'kind',
      before: ['load', 'image-archive'],
      after: ['--name', name],
    }),
  },
  {
    pattern: /^k3d-(.+)$/,
    route: (name) => ({
      kind: 'archive',
      command: 'k3d',
      before: ['image', 'import'],
      after: ['--cluster', name],
    }),
  },
  {
    pattern: /^(minikube)$/,
    route: (name) => ({
      kind: 'archive',
      command: 'minikube',
      before: ['image', 'load'],
      after: ['--profile', name],
    }),
  },
];

/** Where a registry may be: host with an optional port, then a path of lower-case names. */
const REGISTRY = /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/;

/**
 * How images come to a context's nodes: as an option says, else by the name of the context.
 * @throws with what to pass, if neither does
 */
export const imageRoute = (context: string, { registry, imagesInNodes }: RouteOptions): ImageRoute => {
  if (registry !== '' && imagesInNodes) throw new Error('Pass either --registry or --images-in-nodes.');
  if (imagesInNodes) return { kind: 'in-nodes' };
  if (registry !== '') {
    if (!REGISTRY.test(registry))
      throw new Error(`--registry must be HOST/PATH without a scheme, not "${registry}".`);
    return { kind: 'registry', prefix: `${registry}/` };
  }
  for (const { pattern, route } of LOCAL) {
    const name = pattern.exec(context)?.[1];
    if (name !== undefined) return route(name);
  }
  throw new Error(
    `The context ${context} is not one of kind, minikube or k3d, so its nodes do not have the images. ` +
      'Pass --registry HOST/PATH to push them, or --images-in-nodes if the nodes have them.',
  );
};

const kubectlText = (args: readonly string[]): string => {
  const { error, status, stdout, stderr } = spawnSync('kubectl', args, { encoding: 'utf8' });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
    throw new Error('kubectl is not on the PATH. Install kubectl 1.30 or newer.');
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr.trim());
  return stdout;
};

/**
 * Checks that kubectl exists, knows the context, and that its API server answers.
 * @throws with what is missing and what to do
 */
export const checkContext = (context: string): void => {
  const known = kubectlText(['config', 'get-contexts', '--output', 'name']).split('\n').filter(Boolean);
  if (!known.includes(context))
    throw new Error(
      `kubectl has no context ${context}. ${known.length === 0 ? 'It has none: set KUBECONFIG, or create a cluster.' : `Pass one of: ${known.join(', ')}.`}`,
    );
  try {
    kubectlText(['--context', context, '--request-timeout=10s', 'get', '--raw', '/readyz']);
  } catch (error) {
    throw new Error(
      `The API server of the context ${context} does not answer: ${(error as Error).message.split('\n').at(-1)}. Start the cluster.`,
    );
  }
};

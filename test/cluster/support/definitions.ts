import { type CustomKind, definitionName, definitionsOf } from '../crds/definitions.ts';
import type { ClusterObject, Kubectl } from './kubectl.ts';

/** What a cluster has on its own: groups of Kubernetes, of which none is a custom resource here. */
const BUILT_IN = /^(v1|apps\/|batch\/|autoscaling\/|policy\/|networking\.k8s\.io\/)/;

/** The kinds of custom resources among objects, each once. */
const customKinds = (objects: readonly ClusterObject[]): CustomKind[] => {
  const custom = objects.filter(({ apiVersion }) => !BUILT_IN.test(apiVersion));
  return [
    ...new Map(
      custom.map(({ apiVersion, kind }) => [`${apiVersion}/${kind}`, { apiVersion, kind }]),
    ).values(),
  ];
};

/** Objects that a test has added to the cluster. `remove` deletes them. */
export type Added = { names: string[]; remove: () => Promise<void> };

const absent = async (own: Kubectl, type: string, names: readonly string[]): Promise<Set<string>> => {
  const present = new Set((await own.list(type)).map(({ metadata }) => metadata.name as string));
  return new Set(names.filter((name) => !present.has(name)));
};

const removal = (own: Kubectl, type: string, names: readonly string[]) => async (): Promise<void> => {
  if (names.length > 0) await own.run(['delete', type, ...names, '--ignore-not-found', '--timeout=120s']);
};

/** Adds the definitions of custom resources that the cluster's operators have not. */
export const addDefinitions = async (own: Kubectl, objects: readonly ClusterObject[]): Promise<Added> => {
  const kinds = customKinds(objects);
  const missing = await absent(own, 'customresourcedefinitions', kinds.map(definitionName));
  const names = [...missing];
  const remove = removal(own, 'customresourcedefinitions', names);
  if (names.length === 0) return { names, remove };
  await own.apply(definitionsOf(kinds.filter((each) => missing.has(definitionName(each)))), '--server-side');
  const resources = names.map((name) => `customresourcedefinition/${name}`);
  await own.run(['wait', '--for=condition=Established', '--timeout=60s', ...resources]);
  return { names, remove };
};

/** Adds the namespaces among the objects that the cluster has not. */
export const addNamespaces = async (own: Kubectl, objects: readonly ClusterObject[]): Promise<Added> => {
  const spaces = objects.filter(({ kind }) => kind === 'Namespace');
  const missing = await absent(
    own,
    'namespaces',
    spaces.map(({ metadata }) => metadata.name as string),
  );
  const names = [...missing];
  const added = spaces.filter(({ metadata }) => missing.has(metadata.name));
  if (added.length > 0) await own.apply(added, '--server-side');
  return { names, remove: removal(own, 'namespaces', names) };
};

import { parseAllDocuments } from 'yaml';
import type { ClusterObject, Kubectl } from './kubectl.ts';

/**
 * The objects that `kubectl apply --kustomize` would send.
 * @throws with the message of kustomize
 */
export const objectsOf = async (own: Kubectl, folder: string): Promise<ClusterObject[]> =>
  parseAllDocuments(await own.run(['kustomize', folder])).map((each) => each.toJS() as ClusterObject);

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../support/k8s/render.ts';
import { TRIAL_FOLDER } from './installation.ts';
import type { Kubectl } from './kubectl.ts';

/** The commands of the section "A release" of docs/kubernetes.md, as they are written. */
const commandsOfPage = (): string => {
  const page = readFileSync(path.join(root, 'docs/kubernetes.md'), 'utf8');
  const block = /^## A release$[\s\S]*?^```bash\n([\s\S]*?)^```$/m.exec(page)?.[1];
  if (block === undefined) throw new Error('docs/kubernetes.md has no commands in "A release"');
  return block;
};

/**
 * Does a release of the trial by the commands of docs/kubernetes.md. Only the namespace, the folder
 * and the time that a job may take are others.
 * @throws a KubectlError as soon as a command fails
 */
export const release = async (
  own: Kubectl,
  { jobsWithin = '5m' }: { jobsWithin?: string } = {},
): Promise<string> => {
  const commands = commandsOfPage()
    .replaceAll('quittance-test', own.namespace)
    .replaceAll('k8s/overlays/test', TRIAL_FOLDER)
    .replaceAll('--timeout=15m', `--timeout=${jobsWithin}`);
  return own.script(commands);
};

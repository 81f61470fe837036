// `npm run cluster`: the overlay `trial` in a cluster, a payment through its gateway, and the tests
// of test/cluster (docs/kubernetes.md).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { readCommandLine, refuse } from '../../deploy/local/processes/command-line.ts';
import { transcript } from '../../deploy/local/seed/transcript.ts';
import { TRIAL_NAMESPACE } from '../../tools/k8s/trial.ts';
import { openInstallation, TRIAL_FOLDER } from './support/installation.ts';
import { kubectl } from './support/kubectl.ts';
import { applyTrial, deleteTrial, waitForTrial } from './support/trial.ts';

const USAGE = `Usage: npm run cluster -- --context NAME [options]

Applies the overlay \`trial\` in the cluster of a context of kubectl, pays through its gateway, runs the tests of
test/cluster, and deletes the trial.

  --context NAME        the context (kubectl config get-contexts)
  --images-in-nodes     the nodes have the images quittance:0.1.0 and quittance-sandbox:local
  --only REGEX          run only the test files whose path matches; "none" runs none
  --keep                do not delete the trial
  --delete              only delete the trial of an earlier run`;

const { values } = readCommandLine(USAGE, {
  options: {
    context: { type: 'string' },
    'images-in-nodes': { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
    delete: { type: 'boolean', default: false },
  },
});
const context = values.context ?? refuse(`Pass --context.\n\n${USAGE}`);
const root = path.resolve(import.meta.dirname, '../..');
const startedAt = performance.now();
const report = (line: string): void =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`);

/** Makes one payment through the gateway's Service. */
const pay = async (): Promise<void> => {
  const installation = await openInstallation(context);
  try {
    await transcript(installation.stack, () => {}, TRIAL_FOLDER);
  } finally {
    await installation.close();
  }
};

/** Runs the tests of this folder on the installation. Returns the exit code. */
const runTests = async (): Promise<number> => {
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--config',
    'test/cluster/jest.config.js',
    '--runInBand',
    ...(values.only === '' ? [] : ['--testPathPatterns', values.only]),
  ];
  const jest = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CLUSTER_CONTEXT: context },
  });
  const [code] = (await once(jest, 'exit')) as [number | null];
  return code ?? 1;
};

const own = kubectl(context, TRIAL_NAMESPACE);
if (values.delete) {
  await deleteTrial(own);
  report('the trial is deleted');
  process.exit(0);
}
report('the trial is applied');
await applyTrial(own, []);
await waitForTrial(own, report);
await pay();
report('a payment through the gateway is settled and redeemed');
const code = values.only === 'none' ? 0 : await runTests();
if (!values.keep) {
  await deleteTrial(own);
  report('the trial is deleted');
}
process.exit(code);

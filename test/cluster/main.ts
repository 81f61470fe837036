// `npm run prove -- cluster`: the overlay `trial` in a cluster, a payment through its gateway, and
// the tests of test/cluster (docs/kubernetes.md).
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { flag, readCommandLine, refuse, text, whole } from '../../deploy/local/processes/command-line.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import { TRIAL_NAMESPACE } from '../../tools/k8s/trial.ts';
import { createParties, payAndReadBack } from '../containers/payment.ts';
import { checkContext, imageRoute } from './support/contexts.ts';
import { provideImages, provideNext } from './support/images.ts';
import { openInstallation } from './support/installation.ts';
import { kubectl } from './support/kubectl.ts';
import { applyTrial, deleteTrial } from './support/trial.ts';

const { values, usage } = readCommandLine({
  typed: 'npm run prove -- cluster',
  about: `Applies the overlay \`trial\` in the cluster of a context of kubectl, pays through its gateway, runs the tests of
test/cluster, and deletes the trial. The images are built and loaded into the nodes of kind, minikube and k3d, which
are recognised by the context's name. The nodes pull the images of NATS, Redis and Postgres.`,
  options: {
    context: text('NAME', 'the context (kubectl config get-contexts)'),
    registry: text('HOST/PATH', 'push the images to this registry, from which the nodes pull them', ''),
    'images-in-nodes': flag(
      'build nothing: the nodes have the images quittance:0.1.0 and quittance-sandbox:local, and quittance:next for --upgrade',
    ),
    upgrade: flag(
      'instead of the tests: under load, an upgrade to the next version of this tree, Deployment by Deployment in any order, the way back and forward again',
    ),
    seed: whole('N', 'the order of --upgrade; without it there is a new one, which is printed'),
    only: text('REGEX', 'run only the test files whose path matches; "none" runs none', ''),
    'policies-enforced': flag("fail if the cluster's network plugin does not enforce network policies"),
    keep: flag('do not delete the trial'),
    delete: flag('only delete the trial of an earlier run'),
  },
});
const context = values.context ?? refuse(`--context is missing\n\n${usage}`);
const own = kubectl(context, TRIAL_NAMESPACE);
const root = path.resolve(import.meta.dirname, '../..');
const startedAt = performance.now();
const report = (line: string): void =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`);

/** What `work` returns. An error about the machine ends the command without a stack trace. */
const orRefuse = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    return refuse((error as Error).message);
  }
};

/** Makes one payment through the gateway's Service and reads it back from the chain. */
const pay = async (): Promise<void> => {
  const { stack, close } = await openInstallation(context);
  try {
    const installation = { ...stack, ...stack.environments.test };
    const paid = await payAndReadBack(installation, await createParties(installation));
    report(`paid ${displayUsdc(paid.grossMicro)}, redeemed and read back from the chain: ${paid.tx_hash}`);
  } finally {
    await close();
  }
};

/**
 * Runs the tests of this folder on the installation. Returns the exit code.
 * @param env of the upgrade; it runs alone, because it leaves the migrations of the next version
 */
const runTests = async (env: NodeJS.ProcessEnv | undefined): Promise<number> => {
  const only = env === undefined ? values.only : 'cluster/upgrade\\.test';
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--config',
    'test/cluster/jest.config.js',
    '--runInBand',
    ...(only === '' ? [] : ['--testPathPatterns', only]),
  ];
  const jest = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...env,
      CLUSTER_CONTEXT: context,
      CLUSTER_POLICIES_ENFORCED: String(values['policies-enforced']),
    },
  });
  const [code] = (await once(jest, 'exit')) as [number | null];
  return code ?? 1;
};

const removeTrial = async (): Promise<void> => {
  await deleteTrial(own);
  report('the trial is deleted');
};

const applyAndTest = async (): Promise<number> => {
  try {
    const { registry, 'images-in-nodes': imagesInNodes } = values;
    const route = orRefuse(() => imageRoute(context, { registry, imagesInNodes }));
    const images = await provideImages(route, report);
    const upgrade = values.upgrade
      ? {
          CLUSTER_NEXT_IMAGE: await provideNext(route, report),
          CLUSTER_UPGRADE_SEED: String(values.seed ?? randomInt(1, 2 ** 31)),
        }
      : undefined;
    await applyTrial(own, images, report);
    await pay();
    return values.only === 'none' ? 0 : await runTests(upgrade);
  } catch (error) {
    report((error as Error).message);
    return 1;
  } finally {
    if (!values.keep) await removeTrial();
  }
};

orRefuse(() => checkContext(context));
if (values.delete) await removeTrial();
else process.exit(await applyAndTest());

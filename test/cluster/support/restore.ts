import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import { reconcile } from '../../../tools/reconcile.ts';
import { waitFor } from '../../support/base/wait.ts';
import { type Ops, opsAt } from '../../support/packages/ops.ts';
import { type Installation, TRIAL_FOLDER } from './installation.ts';
import type { Kubectl } from './kubectl.ts';

/** The commands of docs/kubernetes.md, Backup, as an operator runs them. */

const JOB_WITHIN_MS = 600_000;
/** The services, without the servers that they use. */
const SERVICES = 'app.kubernetes.io/part-of=quittance,!quittance.dev/server';

/**
 * Waits until a job has ended, and deletes it. Returns whether it succeeded, and the objects that
 * it logged.
 */
const endOf = async (
  own: Kubectl,
  job: string,
): Promise<{ succeeded: boolean; log: Record<string, unknown>[] }> => {
  const conditions = await waitFor(
    async () => ((await own.json(['get', 'job', job])).status.conditions ?? []) as { type: string }[],
    (list) => list.some(({ type }) => type === 'Complete' || type === 'Failed'),
    JOB_WITHIN_MS,
    500,
  );
  const lines = (await own.logs(`job/${job}`)).split('\n').filter((line) => line.startsWith('{'));
  await own.run(['delete', 'job', job]);
  return {
    succeeded: conditions.some(({ type }) => type === 'Complete'),
    log: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
};

/** Starts a job of the CronJob `backup` and waits for it. */
export const backUp = async (own: Kubectl, job: string): ReturnType<typeof endOf> => {
  await own.run(['create', 'job', job, '--from=cronjob/backup']);
  return endOf(own, job);
};

/** Starts a job of the suspended CronJob `restore` with the operator's values, and waits for it. */
export const restoreCopy = async (
  own: Kubectl,
  job: string,
  values: { BACKUP: string; ACTOR: string; REASON: string },
): ReturnType<typeof endOf> => {
  const template = await own.run([
    ...['create', 'job', job, '--from=cronjob/restore', '--dry-run=client', '--output=yaml'],
  ]);
  const manifest = await own.run(
    [
      ...['set', 'env', '--local', '--filename=-', '--output=yaml'],
      ...Object.entries(values).map(([name, value]) => `${name}=${value}`),
    ],
    { input: template },
  );
  await own.run(['apply', '--filename=-'], { input: manifest });
  return endOf(own, job);
};

/** Ends every process of every service. */
export const stopServices = async (own: Kubectl): Promise<void> => {
  await own.run(['scale', 'deployment', '--selector', SERVICES, '--replicas=0']);
  await own.run([
    ...['wait', '--for=delete', 'pod', '--timeout=180s', '--selector'],
    // The pods of jobs have the same labels, and stay after their end.
    `${SERVICES},!job-name`,
  ]);
};

export const startServices = async (own: Kubectl): Promise<void> => {
  await own.run(['scale', 'deployment', '--selector', SERVICES, '--replicas=1']);
};

/** Deletes a StatefulSet with its pods and volumes: its data are lost. */
export const loseServer = async (own: Kubectl, name: string): Promise<void> => {
  const selector = ['--selector', `app.kubernetes.io/name=${name}`];
  await own.run(['delete', 'statefulset', name, '--timeout=120s']);
  await own.run(['wait', '--for=delete', 'pod', ...selector, '--timeout=180s']);
  await own.run(['delete', 'persistentvolumeclaims', ...selector, '--timeout=120s']);
};

/** Runs `npm run ops -- …` through a forwarded port of the bus, as the trial's operator. */
export const operate = async (own: Kubectl, ...words: string[]): Promise<Ops> => {
  const [operator, seed] = Object.entries(environmentKeys(TRIAL_FOLDER, 'test').operatorSeeds)[0]!;
  const forward = await own.forward('service/nats', 4222);
  try {
    return await opsAt('', {
      NATS_URL: `nats://127.0.0.1:${forward.port}`,
      NATS_OPERATOR: operator,
      NATS_NKEY_SEED: seed,
    })(...words);
  } finally {
    await forward.stop();
  }
};

/** What `npm run ops -- reconcile` finds, for every account. */
export const reconcileTrial = async ({ stack }: Installation) => {
  const environment = stack.environments.test;
  const { reports } = await reconcile({
    environment: 'test',
    databases: stack.postgres_urls,
    rpcUrl: environment.rpc_url,
    mint: environment.usdc_mint,
    feeWallet: environment.fee_wallet,
    feePayers: [environmentKeys(TRIAL_FOLDER, 'test').feePayer.address],
  });
  return reports.flatMap(({ findings }) => findings);
};

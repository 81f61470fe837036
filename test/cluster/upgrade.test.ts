// Proves (`npm run prove -- cluster --upgrade`): while payments and tabs go on, the Deployments get
// the next version of this tree one after the other in any order, then all but settlement go back,
// then forward again. No call is refused, everything that was open ends, and the records agree with
// the chain.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { ERRORS, isErrorCode } from '../../shared/contract/errors.ts';
import { tableText } from '../../tools/ops/table.ts';
import { createRng } from '../faults/rng.ts';
import { changedBy, STEPS } from '../faults/versions/two-versions.ts';
import { render } from '../support/k8s/render.ts';
import { opsAt } from '../support/packages/ops.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation, TRIAL_FOLDER } from './support/installation.ts';
import { beginLoad, type ClusterLoad } from './support/load.ts';
import { PRODUCT, secondsSince } from './support/pods.ts';
import { openReceiver } from './support/receiver.ts';

const { CLUSTER_NEXT_IMAGE: next, CLUSTER_UPGRADE_SEED: seed = '1' } = process.env;
const ifUpgrade = next === undefined ? test.skip : test;
const WITHIN_SECONDS = 300;

let installation: Installation;
beforeAll(async () => {
  if (next !== undefined) installation = await runningInstallation();
});
afterAll(() => installation?.close());

/** Runs the migrations of an image, as the release procedure does. */
const migrate = async (image: string): Promise<void> => {
  const { kubectl } = installation;
  const job = render(TRIAL_FOLDER).find(
    ({ kind, metadata }) => kind === 'Job' && metadata.name === 'migrate',
  )!;
  job.spec.template.spec.containers[0].image = image;
  await kubectl.run(['delete', 'job', 'migrate', '--ignore-not-found']);
  await kubectl.apply([job]);
  await kubectl.run(['wait', '--for=condition=Complete', 'job/migrate', `--timeout=${WITHIN_SECONDS}s`]);
};

const imageOf = async (name: string): Promise<string> =>
  (await installation.kubectl.json(['get', 'deployment', name])).spec.template.spec.containers[0].image;

/** Gives a Deployment an image, and waits until no other pod is left. */
const setImage = async (name: string, image: string): Promise<void> => {
  await installation.kubectl.run(['set', 'image', `deployment/${name}`, `${name}=${image}`]);
  await installation.kubectl.rollout(`deployment/${name}`, WITHIN_SECONDS);
};

/** The versions that `npm run ops -- versions` names. */
const versionsNow = async (): Promise<string[]> => {
  const [[operator, seed] = []] = Object.entries(environmentKeys(TRIAL_FOLDER, 'test').operatorSeeds);
  const { port, stop } = await installation.kubectl.forward('service/nats', 4222);
  try {
    const ops = opsAt('', {
      NATS_URL: `nats://127.0.0.1:${port}`,
      NATS_OPERATOR: operator!,
      NATS_NKEY_SEED: seed!,
    });
    const { code, out, err } = await ops('versions', '--json');
    if (code === null || out === '') throw new Error(`ops versions: ${err}`);
    const { processes } = JSON.parse(out) as { processes: { version: string }[] };
    return [...new Set(processes.map(({ version }) => version))].sort();
  } finally {
    await stop();
  }
};

/**
 * Whether an answer has a reason that no client caused: none arrived, an error of a service, or an
 * input that another version does not read. What payers may and have refuses much of the load, and
 * the invariants judge that. A 503 is repeated. Some tabs capture less than was used, on purpose.
 */
const isRefused = (outcome: string): boolean => {
  const code = outcome.split(' ').at(-1)!;
  if (code === REPEATED || outcome === 'capture validation_error') return false;
  const status = isErrorCode(code) ? ERRORS[code].http : Number(code);
  return !(status >= 200 && status < 500 && status !== 400);
};
const REPEATED = 'service_unavailable';

/** Calls by their answers. */
const countsOf = (outcomes: ReturnType<ClusterLoad['outcomes']>) => {
  const sum = (which: (outcome: string) => boolean): number =>
    outcomes.reduce((total, [outcome, calls]) => total + (which(outcome) ? calls : 0), 0);
  return {
    calls: sum(() => true),
    repeated: sum((outcome) => outcome.endsWith(` ${REPEATED}`)),
    refused: sum(isRefused),
  };
};

const OPEN = "status <> 'voided' and chain_status not in ('finalized', 'failed')";
const openPayments = async ({ query }: ClusterLoad, ids?: readonly string[]): Promise<string[]> => {
  const rows = await query<{ settlement_id: string }>(
    `select settlement_id from settlement.settlements where ${OPEN} and ($1::text[] is null or settlement_id = any($1))`,
    [ids ?? null],
  );
  return rows.map(({ settlement_id }) => settlement_id);
};

ifUpgrade(
  'an upgrade in any order, back and forward again refuses no call, and all payments end',
  async () => {
    const rng = createRng(Number(seed));
    const images = { this: await imageOf('gateway'), next: next! };
    const inbox = await openReceiver(installation.kubectl);
    const load = await beginLoad(installation, {
      perSecond: 2,
      tabs: 0.5,
      seed: Number(seed),
      inbox: async () => inbox,
    });
    try {
      report(`seed ${seed} repeats the order`);
      const rows: { step: string; order: string[]; seconds: number; open: string[]; versions: string[] }[] =
        [];
      const counts: ReturnType<typeof countsOf>[] = [countsOf(load.outcomes())];
      for (const step of STEPS.release) {
        const startedAt = performance.now();
        const open = await openPayments(load);
        await migrate(images[step.to]);
        const order = changedBy(step, rng.shuffle(PRODUCT));
        let versions: string[] = [];
        for (const [at, name] of order.entries()) {
          await setImage(name, images[step.to]);
          if (at === Math.floor(order.length / 2)) versions = await versionsNow();
        }
        counts.push(countsOf(load.outcomes()));
        rows.push({ step: `to ${step.to}`, order, seconds: secondsSince(startedAt), open, versions });
        report(`to ${step.to} in ${rows.at(-1)!.seconds} s, versions side by side: ${versions.join(', ')}`);
      }
      const wrong = await load.conclude();
      counts.push(countsOf(load.outcomes()));
      const figures = await Promise.all(
        rows.map(async ({ open, ...row }, at) => {
          const left = await openPayments(load, open);
          const [before, after] = [counts[at]!, counts[at + 1]!];
          return {
            ...row,
            calls: after.calls - before.calls,
            repeated: after.repeated - before.repeated,
            refused: after.refused - before.refused,
            open: open.length,
            ended: open.length - left.length,
          };
        }),
      );
      const heads = ['step', 'order', 'seconds', 'calls', 'repeated', 'refused', 'open', 'ended'] as const;
      const table = [[...heads], ...figures.map((row) => heads.map((head) => String(row[head])))];
      for (const line of tableText(table).split('\n')) report(line);
      const total = counts.at(-1)!;
      const others = load.outcomes().filter(([outcome]) => !/ 2\d\d$/.test(outcome));
      recordFigures('upgrade', { seed, ...total, ...load.counts(), figures, others });

      expect({ refused: others.filter(([outcome]) => isRefused(outcome)), wrong }).toEqual({
        refused: [],
        wrong: [],
      });
      for (const { open, ended, versions } of figures)
        expect({ ended, versions: versions.length }).toEqual({ ended: open, versions: 2 });
    } finally {
      await load.close();
    }
  },
  1_800_000,
);

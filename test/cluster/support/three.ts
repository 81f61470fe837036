import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { writeAtomically } from '../../../deploy/local/processes/atomic-file.ts';
import { waitUntil } from '../../support/base/wait.ts';
import { report } from './figures.ts';
import { TRIAL_FOLDER } from './installation.ts';
import { type Kubectl, KubectlError } from './kubectl.ts';
import type { NodeSignals } from './node-signals.ts';
import { applyAgain, waitForTrial } from './trial.ts';

/**
 * The trial with three NATS servers and a Postgres with a synchronous standby
 * (overlays/three), and what an operator does when one of these servers is lost.
 */
const root = path.resolve(import.meta.dirname, '../../..');
const THREE_FOLDER = path.resolve(TRIAL_FOLDER, '../three');
const OVERLAY = path.join(root, 'test/cluster/overlays/three');

const FAILOVER_WITHIN_MS = 180_000;

/** Writes a kustomization: the trial with the overlay, and the bus of k8s/components/nats. */
const writeThree = (): void => {
  mkdirSync(THREE_FOLDER, { recursive: true, mode: 0o700 });
  // kustomize reads files below its own folder only.
  copyFileSync(path.join(root, 'k8s/components/nats/nats.conf'), path.join(THREE_FOLDER, 'nats.conf'));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'quittance-trial',
    resources: [path.relative(THREE_FOLDER, TRIAL_FOLDER)],
    components: [path.relative(THREE_FOLDER, OVERLAY)],
    configMapGenerator: [
      { name: 'nats', namespace: 'quittance-trial', behavior: 'merge', files: ['nats.conf'] },
    ],
  };
  writeAtomically(path.join(THREE_FOLDER, 'kustomization.yaml'), stringify(kustomization));
};

/** Runs a statement as superuser in a pod of Postgres. Returns the values, a line for each row. */
export const psql = (own: Kubectl, pod: string, statement: string): Promise<string> =>
  own.exec(pod, [
    ...['sh', '-c'],
    'PGPASSWORD=$POSTGRES_PASSWORD exec psql --username=postgres --dbname=quittance_test --quiet --no-align --tuples-only --command="$0"',
    statement,
  ]);

/** The bus without its data: services publish again what is not acknowledged (docs/runbook.md). */
const removeBus = async (own: Kubectl): Promise<void> => {
  const nats = ['--selector', 'app.kubernetes.io/name=nats'];
  await own.run(['delete', 'statefulset', 'nats', '--timeout=120s']);
  await own.run(['wait', '--for=delete', 'pod', ...nats, '--timeout=120s']);
  await own.run(['delete', 'persistentvolumeclaims', ...nats, '--timeout=60s']);
};

/** Turns the running trial into three NATS servers and a Postgres with a synchronous standby. */
export const installThree = async (own: Kubectl): Promise<void> => {
  const { spec } = await own.json(['get', 'statefulset', 'postgres']);
  // A run that was killed has left it behind.
  if (spec.replicas === 2) return hasStandby(own, 'postgres-0');
  writeThree();
  // The rule of the official image does not include replication.
  const rule = 'host replication postgres all scram-sha-256';
  await own.exec('postgres-0', [
    'sh',
    '-c',
    `grep -qx "${rule}" "$PGDATA/pg_hba.conf" || echo "${rule}" >> "$PGDATA/pg_hba.conf"`,
  ]);
  await psql(own, 'postgres-0', 'select pg_reload_conf()');
  await removeBus(own);
  await own.run(['delete', 'jobs', '--all']);
  await own.apply(THREE_FOLDER, '--server-side', '--force-conflicts');
  await waitForTrial(own, report);
  await hasStandby(own, 'postgres-0');
};

/**
 * Turns it into the trial again.
 * @throws if a failed test has left another primary than `postgres-0`, whose data would be lost
 */
export const removeThree = async (own: Kubectl): Promise<void> => {
  const { spec } = await own.json(['get', 'service', 'postgres-rw']);
  const primary = spec.selector['statefulset.kubernetes.io/pod-name'];
  if (primary !== 'postgres-0')
    throw new Error(`the primary is ${primary}: delete the trial with npm run prove -- cluster --delete`);
  await removeBus(own);
  await selectPrimary(own, null);
  await applyAgain(own);
  await waitForTrial(own, report);
  await own.run(['wait', '--for=delete', 'pod/postgres-1', '--timeout=120s']);
  await own.run(['delete', 'persistentvolumeclaim', 'data-postgres-1', '--ignore-not-found']);
  await own.run(['delete', 'networkpolicy', 'postgres-peers', '--ignore-not-found']);
};

/** The instance behind the Service `postgres-rw`; null: any pod. */
const selectPrimary = (own: Kubectl, pod: string | null): Promise<string> =>
  own.run([
    ...['patch', 'service', 'postgres-rw', '--type=merge', '--patch'],
    JSON.stringify({ spec: { selector: { 'statefulset.kubernetes.io/pod-name': pod } } }),
  ]);

/** Resolves when a synchronous standby streams from this primary. */
export const hasStandby = (own: Kubectl, primary: string): Promise<void> =>
  waitUntil(
    async () => {
      const states = await psql(
        own,
        primary,
        "select count(*) from pg_stat_replication where state = 'streaming' and sync_state = 'quorum'",
      ).catch(tolerated);
      return Number(states ?? 0) > 0;
    },
    { withinMs: FAILOVER_WITHIN_MS, everyMs: 500 },
  );

/** A pod that is being replaced refuses. */
const tolerated = (error: unknown): null => {
  if (error instanceof KubectlError) return null;
  throw error;
};

/**
 * Promotes the standby and switches the Service to it, as an operator does after the primary's node
 * is lost for good. The old primary must not run any more.
 */
export const failOverTo = async (own: Kubectl, standby: string): Promise<void> => {
  await psql(own, standby, 'select pg_promote()');
  await selectPrimary(own, standby);
};

/**
 * Loses a pod of a StatefulSet as its node would: the kernel ends its process, and the pod is gone
 * without a shutdown. With its volume, the next pod of that name begins without data.
 */
export const losePod = async (
  own: Kubectl,
  signals: NodeSignals,
  pod: string,
  { volume }: { volume: boolean },
): Promise<void> => {
  if (volume) await own.run(['delete', 'persistentvolumeclaim', `data-${pod}`, '--wait=false']);
  await signals.send(pod, 'SIGKILL');
  await own.run(['delete', 'pod', pod, '--grace-period=0', '--force']);
};

type Raft = { leader?: string };
type Jsz = {
  meta_cluster?: Raft;
  account_details?: { stream_detail?: { name: string; cluster?: Raft }[] }[];
};

/** The servers that lead the meta group and each stream, by name: `meta`, `JOBS`, `EVENTS`. */
export const leadersOfBus = async (own: Kubectl): Promise<Record<string, string>> => {
  const answers = await Promise.all(
    [0, 1, 2].map(async (number) => {
      const forward = await own.forward(`pod/nats-${number}`, 8222);
      try {
        const url = `http://127.0.0.1:${forward.port}/jsz?accounts=true&streams=true`;
        return (await (await fetch(url)).json()) as Jsz;
      } finally {
        await forward.stop();
      }
    }),
  );
  const leaders: Record<string, string> = {};
  for (const { meta_cluster: meta, account_details: accounts = [] } of answers) {
    if (meta?.leader) leaders.meta = meta.leader;
    for (const { name, cluster } of accounts.flatMap(({ stream_detail: streams = [] }) => streams))
      if (cluster?.leader) leaders[name] = cluster.leader;
  }
  return leaders;
};

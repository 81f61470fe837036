import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Installation, runningInstallation } from './support/installation.ts';
import { type ClusterObject, KubectlError } from './support/kubectl.ts';

/**
 * Proves what the kubelet has made of every pod: it is ready, its processes are no root, it cannot
 * write its root file system, and it has no token of the API server.
 */
let installation: Installation;
let pods: ClusterObject[] = [];

beforeAll(async () => {
  installation = await runningInstallation();
  pods = (await installation.kubectl.list('pods')).filter(
    ({ status, metadata }) => status.phase !== 'Succeeded' && metadata.deletionTimestamp === undefined,
  );
});
afterAll(() => installation.close());

/** Runs a command in each pod at the same time; null where the pod refused it. */
const inEach = (command: readonly string[]): Promise<[string, string | null][]> =>
  Promise.all(
    pods.map(async ({ metadata }): Promise<[string, string | null]> => {
      const printed = installation.kubectl.exec(metadata.name, command).catch((error: unknown) => {
        if (error instanceof KubectlError) return null;
        throw error;
      });
      return [metadata.name, await printed];
    }),
  );
const all = (value: unknown) => pods.map(({ metadata }) => [metadata.name, value]);

describe('every pod', () => {
  test('is ready', () => {
    expect(pods.length).toBeGreaterThan(12);
    const ready = pods.map(({ metadata, status }) => [
      metadata.name,
      status.conditions.find(({ type }: { type: string }) => type === 'Ready').status,
    ]);
    expect(ready).toEqual(all('True'));
  });

  test('runs as a user other than root, with the id of its manifest', async () => {
    const expected = pods.map(({ metadata, spec }) => [
      metadata.name,
      `${spec.securityContext.runAsUser ?? spec.containers[0].securityContext.runAsUser}\n`,
    ]);
    expect(expected.map(([, user]) => user)).not.toContain('0\n');
    expect(await inEach(['id', '-u'])).toEqual(expected);
  });

  test('cannot write its root file system, and root is the only part that it is refused', async () => {
    // It writes where a volume is mounted, so a refusal is not an error of the command.
    const write =
      'for folder in / /app /etc /usr; do test -d $folder && touch $folder/x && echo $folder; done; true';
    expect(await inEach(['sh', '-c', `{ ${write}; } 2>/dev/null`])).toEqual(all(''));
    const own = pods.filter(({ spec }) =>
      spec.containers[0].volumeMounts?.some(({ mountPath }: { mountPath: string }) => mountPath === '/data'),
    );
    expect(own.length).toBeGreaterThan(0);
    for (const { metadata } of own)
      await installation.kubectl.exec(metadata.name, ['sh', '-c', 'touch /data/x && rm /data/x']);
  });

  test('has no capability and cannot gain one', async () => {
    const status = ['sh', '-c', 'grep -E "^(CapEff|NoNewPrivs)" /proc/1/status'];
    const printed = await inEach(status);
    expect(printed.map(([name, text]) => [name, text?.replace(/\s+/g, ' ')])).toEqual(
      all('CapEff: 0000000000000000 NoNewPrivs: 1 '),
    );
  });

  test('has no token of the API server', async () => {
    const token = '/var/run/secrets/kubernetes.io/serviceaccount/token';
    expect(await inEach(['sh', '-c', `test -e ${token} && echo present || echo absent`])).toEqual(
      all('absent\n'),
    );
  });
});

import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServiceName } from '../../../shared/contract/service.ts';
import { inherited } from '../base/inherited.ts';
import { atSuiteClock } from '../base/suite-clock.ts';
import { programOf, testPrograms } from '../packages/programs.ts';
import type { TestBus } from './bus.ts';
import type { TestDatabase } from './database-handle.ts';
import { serviceSettings } from './service-settings.ts';

/** Environment of a service with failpoints, see failpoints.ts. */
export const faults = (failpoints: string | undefined): Record<string, string> =>
  failpoints === undefined ? {} : { TEST_FAILPOINTS: failpoints };

const root = path.resolve(import.meta.dirname, '../../..');

/**
 * Arguments that run the sources of a service with a rule switched off
 * (test/faults/mutations/mutate.ts).
 */
const mutated = (service: ServiceName, name: string): string[] => {
  const mutate = pathToFileURL(path.join(root, 'test/faults/mutations/mutate.ts'));
  mutate.searchParams.set('name', name);
  return ['--import', mutate.href, path.join(root, 'services', service, 'main.ts')];
};

export type ServiceProcess = {
  pid: number;
  /** The exit code, null after a signal. */
  exited: Promise<number | null>;
  /** Its log so far. */
  output: () => string;
  /** Sends SIGTERM and resolves with the exit code. */
  stop: () => Promise<number | null>;
};

/**
 * Runs a service as it is deployed: a separate process with its rights, configured by its
 * environment.
 * @param mutation the rule that is switched off
 * @throws with its output when it ends before it is ready
 */
export const startService = async (
  service: ServiceName,
  env: Record<string, string>,
  { testBus, database, mutation }: { testBus: TestBus; database: TestDatabase; mutation?: string },
): Promise<ServiceProcess> => {
  const failpoints = path.join(await testPrograms(), 'test/support/servers/failpoints.js');
  const imports = env.TEST_FAILPOINTS === undefined ? [] : ['--import', failpoints];
  const program = mutation === undefined ? [await programOf(service)] : mutated(service, mutation);
  const child = spawn(process.execPath, [...atSuiteClock, ...imports, ...program], {
    env: {
      ...inherited,
      ...serviceSettings(service, { testBus, database }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString();
      if (!output.includes('"msg":"ready"')) return;
      resolve({
        pid: child.pid!,
        exited,
        output: () => output,
        stop: () => {
          child.kill('SIGTERM');
          return exited;
        },
      });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    void exited.then((code) => reject(new Error(`${service} ended with ${code}: ${output}`)));
  });
};

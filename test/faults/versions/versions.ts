import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import type { Program } from '../../../shared/contract/service.ts';
import { programsOf } from './build.ts';
import { VERSIONS, type Version } from './edits.ts';

const START = path.join(import.meta.dirname, 'start.mjs');

/**
 * The versions in which the processes of a stack can be started. All begin with this tree's.
 * @param names of the processes, as in stack.json
 */
export const startVersions = async (
  {
    stateDir,
    failpointFolder,
    steps,
  }: { stateDir: string; failpointFolder: string; steps: 'short' | 'whole' },
  names: readonly string[],
) => {
  const folders = new Map<Version, string>();
  for (const version of VERSIONS) folders.set(version, await programsOf(version));
  const folder = path.join(stateDir, 'versions');
  mkdirSync(folder, { recursive: true });
  const fileOf = (name: string) => path.join(folder, name);
  /** The version of a process from its next start on. */
  const set = (name: string, version: Version): void => writeFileSync(fileOf(name), folders.get(version)!);
  for (const name of names) set(name, 'this');
  return {
    steps,
    set,
    argsOf: (service: Program, name: string): string[] => [START, fileOf(name), service, failpointFolder],
    /** Runs the migrations of a version, as its job does. @param adminUrl of the one database */
    migrate: async (version: Version, adminUrl: string): Promise<void> => {
      const { databasePasswords } = environmentKeys(stateDir, 'test');
      await promisify(execFile)(
        process.execPath,
        [path.join(folders.get(version)!, 'shared/jobs/migrate.js')],
        {
          env: {
            ...process.env,
            POSTGRES_ADMIN_URL: adminUrl,
            DATABASE_PASSWORDS: JSON.stringify(databasePasswords),
          },
        },
      );
    },
  };
};

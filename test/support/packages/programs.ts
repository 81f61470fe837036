import path from 'node:path';
import { bundled } from '../../../deploy/image/bundle.ts';
import type { Program } from '../../../shared/contract/service.ts';

/** Modules that replace failpoints. They are built with the programs and share their modules. */
export const MODULES = ['test/support/servers/failpoints.ts', 'test/faults/preloads/armed-failpoints.ts'];

let folder: Promise<string> | undefined;

/**
 * The bundled programs for tests. One starts in a third of the time that its sources need. The
 * set-up of the tests names the folder, so that not every suite hashes the sources.
 */
export const testPrograms = (): Promise<string> => {
  folder ??= process.env.TEST_PROGRAMS ? Promise.resolve(process.env.TEST_PROGRAMS) : bundled(MODULES);
  return folder;
};

/** The file of a service's program. */
export const programOf = async (service: Program): Promise<string> =>
  path.join(await testPrograms(), 'services', service, 'main.js');

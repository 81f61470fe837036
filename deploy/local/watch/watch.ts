// The services of `npm run dev`: built when a source changes, and replaced if their program is
// another one then.
import { SERVICE_NAMES } from '../../../shared/contract/service.ts';
import { refuse } from '../processes/command-line.ts';
import { repositoryRoot } from '../servers/binaries.mjs';
import type { Settings } from '../stack/settings.ts';
import type { RunningStack } from '../stack/stack.ts';
import { createPrograms, type Programs } from './programs.ts';
import { watchFolders } from './watch-folders.ts';

/** Node's own port for debuggers. */
export const INSPECT_PORT = 9229;
const SOURCES = ['services', 'shared'];
/** An editor writes several files at once. */
const QUIET_MS = 50;

export type Watch = {
  serviceCommand: NonNullable<Settings['serviceCommand']>;
  /** Replaces the services of a stack from now on. */
  replaceIn: (running: Pick<RunningStack, 'stack' | 'replace'>) => void;
  /** Replaces nothing any more. */
  stop: () => Promise<void>;
};
type Options = { print: (line: string) => void; inspected: string | undefined; root?: string };

/**
 * Builds the programs of all services and watches their sources.
 * @param options.inspected the service that a debugger may attach to
 * @param options.root the tree with the sources
 * @throws if the sources cannot be built
 */
export const startWatch = async ({ print, inspected, root = repositoryRoot }: Options): Promise<Watch> => {
  const names: readonly string[] = ['gateway', ...SERVICE_NAMES];
  if (inspected !== undefined && !names.includes(inspected))
    refuse(`--inspect: there is no service ${inspected}; the services are ${names.join(', ')}`);
  const programs = await createPrograms(root, print);
  let end = async (): Promise<void> => {};
  return {
    serviceCommand: (service, name) => ({
      command: process.execPath,
      args: [
        '--enable-source-maps',
        ...(name === inspected ? [`--inspect=127.0.0.1:${INSPECT_PORT}`] : []),
        ...programs.argsOf(service),
      ],
    }),
    replaceIn: (running) => {
      const changes = collected(replacing(running, programs, print));
      const unwatch = watchFolders(root, SOURCES, changes.add);
      end = () => {
        unwatch();
        return changes.stop();
      };
    },
    stop: async () => {
      await end();
      await programs.dispose();
    },
  };
};

/** Builds again after files have changed, and replaces the services that are others then. */
const replacing =
  (
    { stack, replace }: Pick<RunningStack, 'stack' | 'replace'>,
    programs: Programs,
    print: (line: string) => void,
  ) =>
  async (files: readonly string[]): Promise<void> => {
    const startedAt = performance.now();
    try {
      const services = await programs.rebuild(files);
      // `settlement`, and also `settlement#2` and `settlement@live`.
      const processes = Object.keys(stack.processes).filter((name) => services.has(name.split(/[#@]/)[0]!));
      if (processes.length === 0) return;
      await replace(processes);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      print(`replaced ${processes.join(', ')} in ${seconds} s`);
    } catch (error) {
      print((error as Error).message);
    }
  };

/** Calls back with the sources that have changed together, once at a time. */
const collected = (onChange: (files: readonly string[]) => Promise<void>) => {
  const touched = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let last = Promise.resolve();
  const pass = (): Promise<void> => {
    const files = [...touched];
    touched.clear();
    return onChange(files);
  };
  return {
    add: (file: string): void => {
      if (!/\.(ts|lua|sql|js|css|html)$/.test(file) || file.endsWith('.test.ts')) return;
      touched.add(file);
      clearTimeout(timer);
      timer = setTimeout(() => {
        last = last.then(pass);
      }, QUIET_MS);
    },
    /** Resolves when what has begun is done. */
    stop: async (): Promise<void> => {
      clearTimeout(timer);
      await last;
    },
  };
};

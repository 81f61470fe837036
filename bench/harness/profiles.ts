import { globSync, readFileSync, rmSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Run } from './run.ts';
import { profileFolder } from './stack.ts';

const SHOWN = 12;
const root = path.resolve(import.meta.dirname, '../..');

/**
 * The file as shown to the reader. For a package only its name is shown, because its functions are
 * not ours to change.
 */
const place = (url: string): string => {
  const file = url.startsWith('file:') ? fileURLToPath(url) : url;
  const [, inPackage] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  return inPackage ?? (path.isAbsolute(file) ? path.relative(root, file) : file);
};

/** Removes the profiles of an earlier run, so that they are not read as this run's. */
export const clearProfiles = (run: Run): void => rmSync(profileFolder(run), { recursive: true, force: true });

/**
 * Prints where each process spent its time: the functions with the most self time over all its
 * profiles. The files stay, for a tool that shows .cpuprofile files.
 */
export const showProfiles = async (run: Run): Promise<void> => {
  // The last profiles are written when the signal arrives, not when it is sent.
  await sleep(1500);
  const files = globSync('*.cpuprofile', { cwd: profileFolder(run) }).sort();
  const processes = Map.groupBy(files, (file) => file.split('.')[0]!);
  for (const [name, own] of processes) {
    const microseconds = new Map<string, number>();
    for (const file of own) {
      const text = readFileSync(path.join(profileFolder(run), file), 'utf8');
      addSelfTimes(JSON.parse(text) as Profiler.Profile, microseconds);
    }
    const idle = microseconds.get('(idle)') ?? 0;
    // The begin and end of the profile itself.
    for (const name of ['(idle)', 'post  node:inspector']) microseconds.delete(name);
    const busy = [...microseconds.values()].reduce((sum, each) => sum + each, 0);
    const largest = (times: Map<string, number>, shown: number) =>
      [...times]
        .sort(([, a], [, b]) => b - a)
        .slice(0, shown)
        .map(([where, time]) => [where, time / 1000, (100 * time) / busy]);
    const places = new Map<string, number>();
    for (const [where, time] of microseconds) {
      const at = where.split('  ')[1] ?? where;
      places.set(at, (places.get(at) ?? 0) + time);
    }
    const share = ((100 * busy) / (busy + idle)).toFixed(0);
    const head = (what: string) => [what, 'ms', '% of busy'];
    run.report.table(
      `Profile of ${name}, busy ${share} % of the time`,
      head('function'),
      largest(microseconds, SHOWN),
    );
    run.report.table(`${name}, by file or package`, head('where'), largest(places, SHOWN));
  }
  run.report.note('Profiling itself costs time. Compare only figures of runs without it.');
};

const addSelfTimes = ({ nodes, samples, timeDeltas }: Profiler.Profile, into: Map<string, number>): void => {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url } }) => {
      const isOfEngine = functionName.startsWith('(');
      return [id, isOfEngine ? functionName : `${functionName || '(anonymous)'}  ${place(url) || 'native'}`];
    }),
  );
  for (const [index, id] of (samples ?? []).entries()) {
    const name = names.get(id)!;
    into.set(name, (into.get(name) ?? 0) + Math.max(0, timeDeltas?.[index] ?? 0));
  }
};

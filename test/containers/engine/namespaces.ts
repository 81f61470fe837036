import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, openSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { waitFor, waitUntil } from '../../support/base/wait.ts';

/** The engine's own network, mounts and processes. Their end is the end of all that is in them. */
export type Namespaces = {
  /** The first process, as this machine numbers it. */
  pid: number;
  /** slirp4netns, which connects the network with that of this machine. */
  networkPid: number;
};

/** What a command that enters the namespaces is preceded by. */
export const entering = (pid: number): string[] => [
  'nsenter',
  `--target=${pid}`,
  '--net',
  '--mount',
  '--pid',
  '--',
];

const childOf = (pid: number): number | undefined => {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]) || undefined;
  } catch {
    return undefined;
  }
};

/**
 * A program of the root file system, run by that file system's own loader, because this machine's
 * libraries may be older.
 */
const programOf = (root: string, name: string): string[] => {
  const [loader] = globSync('{lib64,lib,usr/lib64,usr/lib}/ld-linux-*.so.*', { cwd: root });
  const libraries = globSync('usr/lib/*-linux-gnu', { cwd: root }).map((each) => path.join(root, each));
  return [path.join(root, loader!), '--library-path', libraries.join(':'), path.join(root, 'usr/bin', name)];
};

/**
 * Creates the namespaces with a folder of unpacked packages as their root.
 * @param work a folder that has the same path inside and outside
 * @param keep whether they outlive this process
 */
export const createNamespaces = async (root: string, work: string, keep: boolean): Promise<Namespaces> => {
  const log = openSync(path.join(work, 'namespaces.log'), 'a');
  const ready = path.join(work, 'ready');
  rmSync(ready, { force: true });
  const init = path.join(import.meta.dirname, 'init.sh');
  // `cat` ends with this process, however this process ends, because its input is a pipe from here.
  const last = keep ? ['sleep', 'infinity'] : ['cat'];
  const own: ChildProcess = spawn(
    'unshare',
    [
      ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--propagation=private', '--'],
      ...['sh', init, root, work, ...last],
    ],
    { stdio: [keep ? 'ignore' : 'pipe', log, log], detached: true },
  );
  own.unref();
  await waitUntil(() => existsSync(ready) || own.exitCode !== null);
  if (own.exitCode !== null)
    throw new Error(
      `no namespaces can be created: ${readFileSync(path.join(work, 'namespaces.log'), 'utf8').trim()}`,
    );
  const pid = await waitFor(
    () => childOf(own.pid!),
    (each) => each !== undefined,
  );
  const [loader, ...args] = programOf(root, 'slirp4netns');
  const network = spawn(
    loader!,
    [
      ...args,
      '--configure',
      '--mtu=1500',
      '--disable-host-loopback',
      '--ready-fd=3',
      ...(keep ? [] : ['--exit-fd=0']),
      String(pid),
      'tap0',
    ],
    {
      stdio: [keep ? 'ignore' : 'pipe', log, log, openSync(path.join(work, 'network-ready'), 'w')],
      detached: true,
    },
  );
  network.unref();
  await waitUntil(
    () => readFileSync(path.join(work, 'network-ready'), 'utf8') !== '' || network.exitCode !== null,
  );
  if (network.exitCode !== null)
    throw new Error(
      `the network has no way out: ${readFileSync(path.join(work, 'namespaces.log'), 'utf8').trim()}`,
    );
  return { pid: pid!, networkPid: network.pid! };
};

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`);
const end = (pid: number): void => {
  if (isRunning(pid)) process.kill(pid, 'SIGKILL');
};

/** Ends the namespaces with all that runs in them, and removes the cgroup of their containers. */
export const endNamespaces = async ({ pid, networkPid }: Namespaces, cgroup: string): Promise<void> => {
  end(pid);
  end(networkPid);
  await waitUntil(() => !isRunning(pid) && !isRunning(networkPid));
  const folders = globSync([`/sys/fs/cgroup/${cgroup}`, `/sys/fs/cgroup/*/${cgroup}`]);
  for (const folder of folders) await waitUntil(() => removeCgroup(folder));
};

/** Whether the cgroup and those below it are removed. The kernel removes one without processes. */
const removeCgroup = (folder: string): boolean => {
  const below = globSync('**/', { cwd: folder }).sort((a, b) => b.length - a.length);
  try {
    for (const each of [...below.filter((name) => name !== '.'), '']) {
      const full = path.join(folder, each);
      if (existsSync(full)) rmdirSync(full);
    }
    return true;
  } catch {
    return false;
  }
};

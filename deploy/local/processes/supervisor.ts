import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listensOn } from './listening.ts';
import type { Lock } from './lock.ts';
import { errorLines, followLogs, openLog, type ProcessLog, readable } from './logs.ts';
import { identify, killGroup, type ProcessIdentity } from './process-identity.ts';
import { type ProcessSpec, stopOrder } from './process-spec.ts';
import { startReaper } from './reaper-link.ts';
import { throttledPrint } from './throttled-print.ts';

const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

export type Supervisor = {
  /**
   * Starts the processes and waits until each is ready.
   * @throws with the last output of a process that does not start
   */
  start: (specs: readonly ProcessSpec[]) => Promise<void>;
  /**
   * Stops processes that run and starts them again, for new code.
   * @throws with the last output of one that does not start
   */
  replace: (names: readonly string[]) => Promise<void>;
  /** Registers another thing to stop, such as a container, after all processes. */
  alsoStop: (stop: () => Promise<void>) => void;
  /**
   * Stops all processes, services first, and kills those that still run after `graceMilliseconds`.
   * It never fails.
   */
  stop: () => Promise<void>;
  /** Kills all processes at once, on a second Ctrl-C. */
  abort: () => void;
  /** Name → pid of every listed process that runs. */
  pids: () => Record<string, number>;
};

type SupervisorOptions = {
  logDir: string;
  /** The reaper removes this file if the supervisor is killed. */
  stackFile: string;
  lock?: Lock;
  print?: (line: string) => void;
  /** A pid changed. */
  onChange?: () => void;
  /** How long the first start of a process may take. */
  startMilliseconds?: number;
  graceMilliseconds?: number;
};

const firstBackOffMilliseconds = 100;
const longestBackOffMilliseconds = 5000;
const healthyMilliseconds = 5000;
const crashesBeforeGivingUp = 5;
/** EX_CONFIG of sysexits.h. Another start would not help. */
const badConfiguration = 78;

type Member = {
  spec: ProcessSpec;
  log: ProcessLog;
  child?: ChildProcess;
  identity?: ProcessIdentity;
  wasReady: boolean;
  /** It is stopped in order to be started again at once. */
  isReplaced: boolean;
  crashes: number;
  backOffMilliseconds: number;
  exited: Promise<void>;
};

/** How a process has ended, and when it had started. */
type End = { how: string; startedAt: number; crashed: boolean; hopeless: boolean };

const newMember = (spec: ProcessSpec, log: ProcessLog): Member => ({
  spec,
  log,
  wasReady: false,
  isReplaced: false,
  crashes: 0,
  backOffMilliseconds: firstBackOffMilliseconds,
  exited: Promise.resolve(),
});

/** Starts the process of a member. Calls back once when it has ended. */
const spawnMember = (member: Member, onEnd: (end: End) => void): ChildProcess => {
  const { spec, log } = member;
  const startedAt = Date.now();
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd ?? repositoryRoot,
    env: { ...inheritedEnvironment(), ...spec.env },
    detached: true,
    stdio: ['ignore', log.descriptor, log.descriptor],
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    ...(spec.gid === undefined ? {} : { gid: spec.gid }),
  });
  member.child = child;
  member.exited = new Promise((resolve) => {
    // Node emits only 'error' if the child could not be spawned, and only 'exit' otherwise.
    child.once('error', (error) => {
      resolve();
      onEnd({ how: error.message, startedAt, crashed: true, hopeless: false });
    });
    child.once('exit', (code, name) => {
      resolve();
      const how = name ? `was ended by ${name}` : `exited with code ${code}`;
      const crashed = name !== 'SIGKILL' && name !== 'SIGTERM';
      onEnd({ how, startedAt, crashed, hopeless: code === badConfiguration });
    });
  });
  return child;
};

/** The pause before the next start. It doubles, until the process has run for a while. */
const nextPause = (member: Member, startedAt: number): number => {
  if (Date.now() - startedAt >= healthyMilliseconds) member.backOffMilliseconds = firstBackOffMilliseconds;
  const pause = member.backOffMilliseconds;
  member.backOffMilliseconds = Math.min(pause * 2, longestBackOffMilliseconds);
  return pause;
};

/** Prints how a process has ended. @returns the pause before the next start */
const pauseAfter = (
  member: Member,
  { how, startedAt, crashed, hopeless }: End,
  print: (line: string) => void,
): number => {
  // While starting, a reason is printed once, because the whole start then fails with it.
  const again = !member.wasReady && member.crashes > 0;
  member.crashes += hopeless && !member.wasReady ? crashesBeforeGivingUp : 1;
  const pause = nextPause(member, startedAt);
  print(`[${member.spec.name}] ${how}, starting again in ${pause} ms`);
  // A process that was killed from outside has logged no reason.
  if (crashed && !again) printOutput(member, print);
  return pause;
};

const ofKind = (members: Iterable<Member>, kind: ProcessSpec['kind']): Member[] =>
  [...members].filter(({ spec }) => spec.kind === kind);

const pidsOf = (members: ReadonlyMap<string, Member>): Record<string, number> =>
  Object.fromEntries(
    [...members].flatMap(([name, { spec, identity }]) =>
      identity && spec.listed !== false ? [[name, identity.pid]] : [],
    ),
  );

/**
 * Runs processes as a cluster does: a process that ends is started again, after increasing pauses.
 *
 * Each child leads its own process group. Otherwise Ctrl-C would reach Postgres and NATS at the
 * same moment as the services, and they could not be stopped in order.
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { logDir, stackFile, lock, print = () => {}, onChange = () => {} } = options;
  const { startMilliseconds = 60_000, graceMilliseconds = 8000 } = options;
  const printThrottled = throttledPrint(print);
  const members = new Map<string, Member>();
  const logs = new Map<string, ProcessLog>();
  const stopFollowing = followLogs(logs, printThrottled);
  const reaper = startReaper(stackFile, () =>
    [...members.values()].flatMap(({ identity, spec }) => (identity ? [{ pid: identity.pid, spec }] : [])),
  );
  /** A stop waits for them: the creation of a database cluster must not be interrupted. */
  const preparing = new Set<Promise<void>>();
  const others: (() => Promise<void>)[] = [];
  let stopping = false;
  let stopped: Promise<void> | undefined;

  function changed(): void {
    lock?.setChildren(
      [...members].flatMap(([name, { identity }]) => (identity ? [{ name, ...identity }] : [])),
    );
    onChange();
  }

  async function run(member: Member): Promise<void> {
    const { spec, log } = member;
    const prepared = Promise.resolve(spec.prepare?.());
    preparing.add(prepared);
    await prepared.finally(() => preparing.delete(prepared));
    if (stopping) return;
    log.mark();
    const child = spawnMember(member, (end) => void ended(member, end));
    if (child.pid === undefined) return;
    const identity = identify(child.pid);
    if (!identity) return;
    member.identity = identity;
    reaper.add(child.pid, spec);
    changed();
    await untilReady(member, child, printThrottled);
  }

  async function ended(member: Member, end: End): Promise<void> {
    const { spec, identity } = member;
    delete member.child;
    delete member.identity;
    if (identity) {
      killGroup(identity.pid);
      reaper.remove(identity.pid, spec);
    }
    if (stopping) return;
    const pause = member.isReplaced ? 0 : pauseAfter(member, end, print);
    member.isReplaced = false;
    changed();
    await sleep(pause);
    if (!stopping) await runAgain(member);
  }

  async function runAgain(member: Member): Promise<void> {
    try {
      await run(member);
    } catch (error) {
      print(`[${member.spec.name}] cannot be started: ${(error as Error).message}`);
    }
  }

  async function startOne(spec: ProcessSpec): Promise<void> {
    if (members.has(spec.name)) throw new Error(`two processes are named ${spec.name}`);
    const processLog = openLog(logDir, spec.name);
    logs.set(spec.name, processLog);
    const member = newMember(spec, processLog);
    members.set(spec.name, member);
    const deadline = Date.now() + startMilliseconds;
    await Promise.race([run(member), sleep(startMilliseconds, undefined, { ref: false })]);
    await untilStarted(member, deadline, () => stopping);
  }

  async function stopAll(): Promise<void> {
    await Promise.allSettled(preparing);
    for (const kind of stopOrder) await stopGroup(ofKind(members.values(), kind), graceMilliseconds, print);
    await Promise.allSettled(others.map((stop) => stop()));
    stopFollowing();
    await reaper.stop();
    for (const { log: processLog } of members.values()) processLog.close();
  }

  return {
    start: async (specs) => {
      await Promise.all(specs.map(startOne));
    },
    replace: async (names) => {
      const chosen = [...members.values()].filter(({ spec }) => names.includes(spec.name));
      await stopForNewCode(chosen, graceMilliseconds, print);
      const deadline = Date.now() + startMilliseconds;
      await Promise.all(chosen.map((member) => untilStarted(member, deadline, () => stopping)));
    },
    alsoStop: (stop) => void others.push(stop),
    stop: () => {
      stopping = true;
      reaper.expectEnd();
      stopped ??= stopAll();
      return stopped;
    },
    abort: () => {
      stopping = true;
      reaper.expectEnd();
      for (const { child } of members.values()) child?.kill('SIGKILL');
    },
    pids: () => pidsOf(members),
  };
}

function startFailure({ spec, log, crashes }: Member): Error {
  const why = crashes >= crashesBeforeGivingUp ? 'does not start' : 'does not become ready';
  const output = errorLines(log.lastLines(60), 20).map((line) => `  ${readable(line)}`);
  return new Error([`${spec.name} ${why} (all output in ${log.file})`, ...output].join('\n'));
}

/** @throws Error if the process does not become ready in time, or ends too often */
async function untilStarted(member: Member, deadline: number, isStopping: () => boolean): Promise<void> {
  while (!member.wasReady) {
    if (isStopping()) throw new Error('stopped while starting');
    if (member.crashes >= crashesBeforeGivingUp || Date.now() > deadline) throw startFailure(member);
    await sleep(25);
  }
}

function printOutput({ spec, log }: Member, print: (line: string) => void): void {
  for (const line of errorLines(log.lastLines(60), 8)) print(`[${spec.name}]   ${readable(line)}`);
}

/** Polls the process until it is ready or has ended. */
async function untilReady(member: Member, child: ChildProcess, print: (line: string) => void): Promise<void> {
  const { port } = member.spec;
  const runs = () => member.child === child && child.exitCode === null && child.signalCode === null;
  for (let pause = 10; runs(); pause = Math.min(pause * 1.5, 200)) {
    try {
      if ((await member.spec.ready()) && (port === undefined || listensOn(child.pid!, port))) {
        if (!runs()) return;
        await member.spec.afterReady?.();
        member.wasReady = true;
        return;
      }
    } catch (error) {
      print(`[${member.spec.name}] not ready: ${(error as Error).message}`);
    }
    await sleep(pause);
  }
}

/** Stops processes that start again at once. One that has just crashed does so by itself. */
async function stopForNewCode(
  group: readonly Member[],
  graceMilliseconds: number,
  print: (line: string) => void,
): Promise<void> {
  for (const member of group) {
    member.wasReady = false;
    member.crashes = 0;
    member.backOffMilliseconds = firstBackOffMilliseconds;
    member.isReplaced = member.child !== undefined;
  }
  const running = group.filter(({ isReplaced }) => isReplaced);
  await stopGroup(running, graceMilliseconds, print);
}

/** Stops the processes of one kind, and kills those that do not stop in time. */
async function stopGroup(
  group: readonly Member[],
  graceMilliseconds: number,
  print: (line: string) => void,
): Promise<void> {
  for (const { child, spec } of group) child?.kill(spec.stopSignal ?? 'SIGTERM');
  const grace = new AbortController();
  const gone = Promise.all(group.map(({ exited }) => exited)).then(() => grace.abort());
  await Promise.race([gone, sleep(graceMilliseconds, undefined, { signal: grace.signal }).catch(() => {})]);
  for (const { child, spec } of group) {
    if (!child || child.exitCode !== null || child.signalCode !== null) continue;
    print(`[${spec.name}] did not stop in ${graceMilliseconds} ms and was killed`);
    child.kill('SIGKILL');
  }
  await gone;
}

/** The variables that any program needs. Configuration is passed explicitly instead. */
function inheritedEnvironment(): Record<string, string> {
  const wanted = /^(PATH|HOME|USER|TMPDIR|LANG|LC_ALL|TZ|NODE_COMPILE_CACHE|OTEL_.*)$/;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      wanted.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}

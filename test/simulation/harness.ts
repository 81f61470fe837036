import { createRandom, type Random } from './random.ts';

/** Rules of docs/design/settle.md that a mutation switches off in the model, one at a time. */
export const RULES = [
  'commit before send',
  'unique intent (inbox)',
  'unique quote index',
  'query of the reference before signing',
  'expiry proof: block height',
  'expiry proof: valid blockhash',
  'expiry proof: every provider',
  'conditional holds',
  'one live generation',
  'confirmed recorded before its event',
  'signing deadline',
  'attempt read first',
  'sweep of settlement',
  'sweep of chain-submitter',
  'generation in the job',
  'attempt read after a refusal',
  'quote read after a refusal',
  'limits of a delegate',
  'limits of an account',
  'counters of a delegate',
  'reservation released once',
  'incoming: unique message',
  'incoming: tombstone',
  'incoming: expiry, valid blockhash',
  'incoming: expiry, every provider',
  'incoming: expiry, search of history',
  'incoming: holds of a source',
  'incoming: hand_out_id in the confirm',
  'incoming: fee kept on chain failure',
  'incoming: record before a refusal',
  'incoming: credit in the insert',
  'incoming: credit that is left',
  'incoming: a hand-out lasts',
  'incoming: another provider confirms',
  'incoming: search after a restore',
  'incoming: record decides over the payout address',
  'approval above an amount',
  'approval of its amount',
  'approval of its quote',
  'approval of its delegate',
  'approval of one attempt',
  'approval locked by its payment',
  'payment read after the lock of its approval',
  'units left of a consume',
  'unique id of a consume',
  'consume read after a refusal',
  'ceiling of an authorization',
  'a capture decides on the newest use',
  'a void decides on the newest use',
  'authorized: summed after the lock',
  'capture over a cap: decided again',
  'capture over a cap: its ceiling stays held',
  'closing: nothing is used afterwards',
  'extension: locks its authorization',
  'extension: of an open authorization only',
  'extension: holds the addition',
  'extension: counts once under a repeat',
  'extension: its quote in the job of the sweep',
  'extension: counted once by the signer',
  'outgoing expiry: valid blockhash',
  'outgoing expiry: last block',
  'outgoing expiry: history',
  'outgoing expiry: history of every provider',
  'outgoing: one message of an attempt',
  'outgoing: a hint proves nothing',
  'outgoing: another provider confirms',
  'outgoing: limits of a delegate',
  'outgoing: holds of a wallet',
  'outgoing: search after a restore',
] as const;
export type Rule = (typeof RULES)[number];

/** The probabilities of the faults in a run; all zero after the heal. */
export type Faults = {
  /** Of a message on the bus. */
  loss: number;
  repeat: number;
  slow: number;
  /** Of a statement or publish: the process dies right before or right after it. */
  crash: number;
  /** Of a call: the process is paused before it gets the answer (SIGSTOP). */
  sleep: number;
  /** Of a statement: it was executed, and its answer is an error. */
  lostAnswer: number;
  /** Of an RPC call. */
  rpcError: number;
  rpcLie: number;
  /** Of sent bytes. */
  dropped: number;
  late: number;
  /** Of a process that starts: its clock is wrong. */
  skew: number;
};

/** One process of the simulated system. A crash loses its memory; what is committed stays. */
export type Process = {
  name: string;
  alive: boolean;
  pausedUntil: number;
  startedAt: number;
  /** How far its clock is ahead of the database's. */
  skewMs: number;
};

/** An invariant does not hold. */
export class Broken extends Error {
  override name = 'Broken';
  readonly invariant: string;
  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`);
    this.invariant = invariant;
  }
}

/** @throws Broken unless an invariant holds */
export const require = (met: boolean, invariant: string, detail: () => string): void => {
  if (!met) throw new Broken(invariant, detail());
};

/** An error that the product logs and retries although a retry cannot help. */
export const isMistake = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;

/** Many times the events of the busiest run, so that an endless repetition is detected soon. */
const MAX_EVENTS = 300_000;

type Event = { at: number; order: number; run: () => void };

/**
 * The virtual clock and everything that waits for it. The code under test is unchanged: its
 * promises are resolved by events of this queue, one at a time, and between two events it runs
 * until it waits again.
 */
export type Harness = ReturnType<typeof createHarness>;

export const createHarness = (
  seed: number,
  { off = null, faults }: { off?: Rule | null; faults: Faults },
) => {
  const random: Random = createRandom(seed);
  const queue: Event[] = [];
  const lines: string[] = [];
  const names = new Map<string, string>();
  let now = 0;
  let order = 0;
  let events = 0;
  let broken: Error | null = null;
  let changed = false;
  let onCrash: (process: Process) => void = () => {};
  let outside = 0;
  let replay: (() => Promise<void>) | null = null;

  const before = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);
  const push = (event: Event) => {
    let index = queue.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(event, queue[parent]!)) break;
      queue[index] = queue[parent]!;
      index = parent;
    }
    queue[index] = event;
  };
  const pop = (): Event | undefined => {
    const top = queue[0];
    const last = queue.pop();
    if (top === undefined || last === undefined || queue.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      if (child >= queue.length) break;
      if (child + 1 < queue.length && before(queue[child + 1]!, queue[child]!)) child += 1;
      if (!before(queue[child]!, last)) break;
      queue[index] = queue[child]!;
      index = child;
    }
    queue[index] = last;
    return top;
  };

  const schedule = (delayMs: number, run: () => void) => push({ at: now + delayMs, order: order++, run });

  /** Runs in a process when it is not paused; never when it has died. */
  const inside = (process: Process, delayMs: number, run: () => void): void =>
    schedule(delayMs, () => {
      if (!process.alive) return;
      if (process.pausedUntil > now) inside(process, process.pausedUntil - now, run);
      else run();
    });

  /**
   * Records an event in the trace. Each change of a table or the chain is recorded here, so that
   * the invariants are checked afterwards.
   */
  const trace = (actor: string, what: string) => {
    changed = true;
    lines.push(`${(now / 1000).toFixed(3).padStart(9)} s  ${actor.padEnd(14)}  ${what}`);
  };

  const pause = (process: Process) => {
    // Paused already: its work is delayed until the end of that pause.
    if (process.pausedUntil > now) return;
    // Rarely longer than a blockhash is valid or than the time to a quote's deadline.
    process.pausedUntil = now + random.between(500, random.chance(0.15) ? 150_000 : 30_000);
    trace(process.name, `sleeps until ${(process.pausedUntil / 1000).toFixed(3)} s (SIGSTOP)`);
  };

  const crash = (process: Process) => {
    if (!process.alive) return;
    process.alive = false;
    trace(process.name, 'dies (kill -9)');
    onCrash(process);
  };

  /**
   * Ends the run: an invariant does not hold, or the code has a mistake that it would otherwise
   * retry.
   */
  const fault = (error: unknown): void => {
    if (error instanceof Broken) broken ??= error;
    else broken ??= new Broken('the code runs', String((error as Error).stack));
  };

  /**
   * A call of a process to the outside. The effect happens in one event, its answer arrives in a
   * later one. The process may die between any two events.
   */
  const io = <T>(process: Process, latencyMs: number, effect: () => T | Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const answer = (settle: () => void) =>
        inside(process, random.chance(0.3) ? random.between(0, latencyMs) : 0, settle);
      schedule(random.between(latencyMs / 4, latencyMs), () => {
        // Sent before the death of its sender. Half of these messages arrive.
        if (!process.alive && random.chance(0.5)) return;
        if (random.chance(faults.crash / 2)) return crash(process);
        let result: T | Promise<T>;
        try {
          result = effect();
        } catch (error) {
          if (error instanceof Broken) fault(error);
          return answer(() => reject(error));
        }
        // The refusal of a call whose process dies now is lost.
        if (result instanceof Promise) result.catch(() => {});
        if (random.chance(faults.crash / 2)) return crash(process);
        if (random.chance(faults.sleep)) pause(process);
        if (result instanceof Promise) {
          result.then(
            (value) => answer(() => resolve(value)),
            (error) => answer(() => reject(error)),
          );
        } else answer(() => resolve(result as T));
      });
    });

  /**
   * Runs events until the clock passes `until` or `done` holds.
   * @throws the first broken invariant
   */
  const run = async (until: number, check: () => void, done: () => boolean = () => false): Promise<void> => {
    while (queue.length > 0 && queue[0]!.at <= until && !done()) {
      const event = pop()!;
      now = event.at;
      events += 1;
      if (events > MAX_EVENTS) throw new Broken('a run ends', `${events} events in ${now} ms`);
      event.run();
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (replay !== null) await replay();
      if (broken !== null) throw broken;
      if (changed) check();
      changed = false;
    }
    now = Math.max(now, Math.min(until, queue[0]?.at ?? until));
  };

  return {
    random,
    faults,
    events: () => events,
    off,
    /** The trace, with short names instead of ids. */
    readable: () =>
      lines.map((line) => {
        let text = line;
        for (const [id, name] of names) text = text.replaceAll(id, name);
        return text;
      }),
    trace,
    /** A short name for an id in the trace. */
    call: (id: string, name: string) => names.set(id, name),
    now: () => now,
    schedule,
    inside,
    io,
    crash,
    pause,
    run,
    sleep: (process: Process, ms: number) => new Promise<void>((resolve) => inside(process, ms, resolve)),
    /**
     * The statements of each event are executed on Postgres too, before the next event. There they
     * run one after another, so none of them has an old snapshot.
     */
    replayWith: (execute: () => Promise<void>) => {
      replay = execute;
    },
    isReplayed: () => replay !== null,
    /** Tables are changed without a statement, as by a restore. */
    changeOutside: () => {
      outside += 1;
    },
    /** How often they were. */
    outside: () => outside,
    onCrash: (listener: (process: Process) => void) => {
      onCrash = listener;
    },
    fail: (invariant: string, detail: string) => fault(new Broken(invariant, detail)),
    fault,
  };
};

import type { Access } from './access.ts';
import type { Break, TrafficName } from './break.ts';
import type { FinalRecords } from './checks/final-records.ts';
import type { Death } from './deaths.ts';
import type { Fault } from './fault.ts';
import type { Harness } from './harness.ts';
import type { Rng } from './rng.ts';

/** What happened to the processes and the chain. */
export type Disturbances = { forks: number; deaths: readonly Death[] };

/** A payment that its client paid or tried to pay, and when its calls were under way. */
type Span = { from: number; to: number; isPaid: boolean };

/** What became of the payments of one kind. */
type Evaluation = {
  /** The violations of its own invariants. */
  breaks: Omit<Break, 'traffic'>[];
  /** Lines of a report on its payments. */
  lines: string[];
  /** How many payments succeeded, as its clients or the chain report them. */
  paid: number;
};

/** The clients of one kind of traffic, signed up at an installation. */
export type Clients = {
  /** A line that describes them. */
  about: string;
  /** Starts their payments. They go on until `stop`, which resolves when every call has ended. */
  start: (rng: Rng) => { stop: () => Promise<void> };
  /** How many payments were tried so far, how many have begun, and how many have succeeded. */
  counts: () => { tried: number; begun: number; paid: number };
  spans: () => Span[];
  /** Faults that only these clients can have. */
  faults?: (harness: Harness) => Fault[];
  /** The faults are off: every client asks until it knows the state of its payments. */
  recover: (deadline: number, isAbandoned: () => boolean) => Promise<void>;
  /** Everything has ended, and all answered: what must not change is asked once more. */
  repeat?: () => Promise<void>;
  evaluate: (records: FinalRecords, disturbances: Disturbances) => Promise<Evaluation>;
  /** Stops what the clients have started beside their payments. */
  stop?: () => Promise<void>;
};

/** One kind of traffic: its clients, their load, their log, and what must hold of it. */
export type Traffic<Installation extends Access = Harness> = {
  name: TrafficName;
  /** Processes that a campaign kills at random moments, beside the fault of the schedule. */
  victims?: RegExp;
  /**
   * Signs the clients up.
   * @param redeemed the clients add the transaction of each payment that was delivered to them
   */
  begin: (installation: Installation, redeemed: string[]) => Promise<Clients>;
};

import type { Program } from '../../../shared/contract/service.ts';
import type { hourlyCapsConfig } from '../../../shared/db/hourly-caps.ts';
import type { ProcessSpec } from '../processes/supervisor.ts';
import type { ExternalServers } from '../servers/choose-servers.ts';
import type { Instances } from './programs.ts';

/** What is accepted and signed in an hour (shared/db/hourly-caps.ts). */
export type HourlyCaps = Partial<Record<keyof typeof hourlyCapsConfig, string>>;

/** For whoever pays as fast as it can, all day: a million USDC of a wallet, a hundred million together. */
export const HIGH_HOURLY_CAPS: HourlyCaps = {
  WALLET_HOURLY_CAP_MICRO: '1000000000000',
  ENVIRONMENT_HOURLY_CAP_MICRO: '100000000000000',
};

export type StackOptions = {
  /** Folder of all state. Default `.local` in the repository. */
  stateDir?: string;
  /** Default `['test']`. The first one's processes have plain names. */
  environments?: readonly string[];
  /** Begin without the state of earlier runs. */
  fresh?: boolean;
  /** `any` for tests, which run beside each other; by default well-known ones or the next free. */
  ports?: 'well-known' | 'any';
  chainSlotMs?: number;
  /** The chain answers control methods, for tests. */
  chainControl?: boolean;
  /** Multiplies every request limit. */
  rateLimitScale?: number;
  /** Settings of settlement and chain-submitter; by default theirs, a thousand USDC of a wallet in an hour. */
  hourlyCaps?: HourlyCaps;
  /** Instances of a service other than 1. */
  instances?: Instances;
  /** RPC URLs that the submitters are told, from the chain's own; by default that alone, in live twice. */
  rpcUrls?: (chainUrl: string) => readonly string[];
  /** Servers that run already, used instead of our own. NATS then has no accounts: one environment only. */
  external?: ExternalServers;
  /** False for tests: Postgres does not wait for the disk. */
  durable?: boolean;
  logLevel?: string;
  /** Every call is traced, and there is a page to look at it. */
  traces?: boolean;
  /**
   * What runs as a service instead of the programs that an image holds (deploy/image/bundle.ts): the sources with failpoints
   * loaded, a stand-in, another place. `process` as in stack.json.
   */
  serviceCommand?: (
    service: Program,
    process: string,
  ) => Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'uid' | 'gid'>;
  print?: (line: string) => void;
  /** Ends a start that has not finished; everything started is stopped and `startStack` fails. */
  signal?: AbortSignal;
};

/** The options with what was left out filled in. */
export type Settings = StackOptions & { stateDir: string; stackFile: string; print: (line: string) => void };

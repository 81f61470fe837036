import type { Program } from '../../../shared/contract/service.ts';
import type { hourlyCapsConfig } from '../../../shared/db/hourly-caps.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { ExternalServers } from '../servers/choose-servers.ts';
import type { ServerTls } from '../servers/server-process.ts';
import type { Instances } from './programs.ts';

/** The hourly caps on accepted and signed payments (shared/db/hourly-caps.ts). */
export type HourlyCaps = Partial<Record<keyof typeof hourlyCapsConfig, string>>;

/** Caps for load tests: a million USDC per wallet and a hundred million for the environment. */
export const HIGH_HOURLY_CAPS: HourlyCaps = {
  WALLET_HOURLY_CAP_MICRO: '1000000000000',
  ENVIRONMENT_HOURLY_CAP_MICRO: '100000000000000',
};

export type StackOptions = {
  /** Folder of all state. Default `.local` in the repository. */
  stateDir?: string;
  /** Default `['test']`. The processes of the first one have names without a suffix. */
  environments?: readonly string[];
  /** The operators who may run `npm run ops`. Default: those of earlier starts, or `local`. */
  operators?: readonly string[];
  /** Starts without the state of earlier runs. */
  fresh?: boolean;
  /**
   * `any` lets tests run in parallel. The default is the well-known ports, or the next free ones.
   */
  ports?: 'well-known' | 'any';
  chainSlotMs?: number;
  /** The chain offers its control methods, for tests. */
  chainControl?: boolean;
  /** Programs beside those of the chain, for tests: `<id>:<file>`, with commas between them. */
  chainPrograms?: string;
  /** Multiplies every request limit. */
  rateLimitScale?: number;
  /**
   * Settings of settlement and chain-submitter. By default they use their own: a thousand USDC per
   * wallet and hour.
   */
  hourlyCaps?: HourlyCaps;
  /** DOMAIN_NAME_SERVERS of identity. By default those of this machine are asked. */
  nameServers?: string | undefined;
  /** Instances per service. The default is 1. */
  instances?: Instances;
  /**
   * RPC URLs of the submitters, derived from the chain's URL. The default is the chain with the
   * scenarios for test, and the chain's URL twice for live.
   */
  rpcUrls?: (chainUrl: string) => readonly string[];
  /**
   * How many servers of Postgres, up to one for each service. Default 1. A state folder keeps its
   * number.
   */
  databases?: number | undefined;
  /** Each of our own servers of Postgres has a streaming replica, which answers lists. */
  readReplicas?: boolean | undefined;
  /** Running servers to use. NATS then has no accounts, so only one environment is possible. */
  external?: ExternalServers;
  /** False for tests: Postgres does not wait for the disk. */
  durable?: boolean;
  /** Further settings of our own Postgres, such as libraries that a measurement loads. */
  postgresSettings?: Readonly<Record<string, string>>;
  /** Our own servers encrypt every connection, as in `live`. */
  tls?: ServerTls;
  logLevel?: string;
  /** Traces every call and starts a page that shows the traces. */
  traces?: boolean;
  /** Starts Prometheus, and a page that shows the dashboards of an installation. */
  dashboards?: boolean;
  /**
   * The command of a service. The default is the program of the image (deploy/image/bundle.ts).
   * Tests can, for instance, run the sources with failpoints. `process` is the name in stack.json.
   */
  serviceCommand?: (
    service: Program,
    process: string,
  ) => Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'uid' | 'gid'>;
  print?: (line: string) => void;
  /** Aborts a start: everything that was started is stopped, and `startStack` fails. */
  signal?: AbortSignal;
};

/** The options with defaults filled in. */
export type Settings = StackOptions & { stateDir: string; stackFile: string; print: (line: string) => void };

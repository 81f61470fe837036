/** The order of stopping. Each kind stops after the previous one has ended. */
export const stopOrder = ['service', 'tool', 'server'] as const;

export type ProcessSpec = {
  /** The process's name in stack.json and of its log. */
  name: string;
  kind: (typeof stopOrder)[number];
  command: string;
  args: readonly string[];
  /** The child's whole environment besides PATH and similar variables. It inherits nothing else. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Default SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** Runs before every start, including restarts. */
  prepare?: () => Promise<void> | void;
  /** The port that it answers on. Unless the process itself listens there, it is not ready. */
  port?: number;
  /** Polled every few milliseconds until true. */
  ready: () => Promise<boolean>;
  /** Runs after every start, once ready. On an error it runs again. */
  afterReady?: () => Promise<void>;
  /** False keeps it out of `pids`. */
  listed?: boolean;
};

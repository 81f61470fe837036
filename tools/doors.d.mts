/** What a command needs besides all packages. */
export type SetUp = {
  /** The packages of `npm start` suffice. */
  forStart?: boolean;
  /** The packages that a running stack uses suffice, also those of another commit. */
  keepUsed?: boolean;
  /** Postgres, NATS and Redis, and the built pages. */
  servers?: boolean;
  prometheus?: boolean;
  softhsm?: boolean;
  proxies?: boolean;
  fastapi?: boolean;
  upstreams?: boolean;
  /** A folder with a lock file of its own. */
  locked?: string;
};
export type Program = {
  about: string;
  setUp?: SetUp;
  program: string;
  args?: string[];
  node?: string[];
  usage?: string;
  /** It continues the state of an earlier start, if that fits this commit. */
  continues?: true;
  env?: Record<string, string>;
};
type Several = {
  about: string;
  commands: Record<string, Program>;
  others?: Pick<Program, 'setUp' | 'program'>;
};
export const doors: Record<string, Program | Several> & { prove: Several; ops: Several };
export const programs: () => Pick<Program, 'setUp' | 'program'>[];
export const find: (
  words: readonly string[],
) => { run: Omit<Program, 'about'> & { args: string[] } } | { print: string } | { refuse: string };

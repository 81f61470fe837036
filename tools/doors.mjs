// What each command of package.json runs and needs. Plain JavaScript without imports, because
// tools/run.mjs reads it on any Node from 20 before anything is installed.

/**
 * @typedef Door
 * @property {string} about one line of help
 * @property {import('./doors.d.mts').SetUp} [setUp] what it needs besides all packages
 * @property {string} program relative to the root
 * @property {string[]} [args] before those of the caller
 * @property {string[]} [node] options of Node
 * @property {string} [usage] of a program that prints no help of ours
 * @property {true} [continues] it continues the state of an earlier start, if that fits this commit
 */

/** The suites of some of the projects of jest.config.js. */
const suites = (...projects) => ({
  program: 'node_modules/jest/bin/jest.js',
  // The last one is no name, so that a path after it is a path (`npm run test:quick -- shared`).
  args: ['--selectProjects', ...projects, '--ci'],
  node: ['--experimental-vm-modules'],
  usage: '[path …] [options of Jest, like -t NAME and --watch]',
});

const SERVERS = { servers: true };
/** What a change needs, and what people and their programs use. */
const OWN = ['unit', 'simulation', 'integration', 'e2e', 'faults'];
const CLIENTS = ['browser', 'interop', 'release'];
const FOR_OWN = { servers: true, prometheus: true, softhsm: true, proxies: true, fastapi: true };
const FOR_CLIENTS = { servers: true, proxies: true, fastapi: true, upstreams: true };
/** Beside a running stack: the packages of `npm start` suffice, also those of another commit. */
const OPERATOR = { forStart: true, keepUsed: true };

const proofs = {
  tests: {
    about: 'npm test and test:clients in one run, which takes less time than both',
    setUp: { ...FOR_OWN, ...FOR_CLIENTS },
    ...suites(...OWN, ...CLIENTS),
  },
  faults: {
    about: 'a fault campaign: no payment is lost or made twice while processes and servers break',
    setUp: SERVERS,
    program: 'test/faults/main.ts',
  },
  races: {
    about: 'concurrent calls that must have one winner, again and again',
    setUp: SERVERS,
    program: 'test/races/main.ts',
  },
  simulate: {
    about: 'the rules of payment in any order of events, from seeds',
    setUp: { forStart: true },
    program: 'test/simulation/main.ts',
  },
  mutations: {
    about: 'each rule of payment switched off: a simulation must break',
    program: 'test/simulation/mutations.ts',
  },
  policy: {
    about: 'each condition of the policy for foreign transactions changed: a row must find it',
    program: 'test/policy/main.ts',
  },
  economics: {
    about: 'what attacks on the fee payer cost',
    setUp: SERVERS,
    program: 'test/economics/main.ts',
  },
  fuzz: {
    about: '100,000 almost valid inputs for each parser of foreign bytes',
    program: 'test/fuzz/main.ts',
  },
  stress: {
    about: 'suites with half a core, in another order each time: none may fail by chance',
    setUp: { servers: true, prometheus: true, softhsm: true },
    program: 'test/stress/main.ts',
  },
  compare: {
    about: 'what has changed for those who build on it, since a release: none, minor or major',
    setUp: { forStart: true },
    program: 'tools/compare/main.ts',
  },
  containers: {
    about: 'the image and deploy/compose.yaml with a payment, also without a container engine',
    program: 'test/containers/main.ts',
  },
  cluster: {
    about: 'the manifests with a payment in a Kubernetes of yours',
    program: 'test/cluster/main.ts',
  },
  packages: {
    about: 'the packages with each Node, compiler, bundler and runtime that they claim',
    ...suites('packages'),
    env: { PACKAGES: 'all' },
  },
  capacity: {
    about: 'which limits an installation reaches first at a load, what moves them, and what the load takes',
    program: 'tools/capacity/main.ts',
  },
  bench: { about: 'the measurements of docs/benchmarks.md', setUp: SERVERS, program: 'bench/main.ts' },
  pictures: {
    about: 'takes the pictures of the README, of a running stack',
    setUp: SERVERS,
    program: 'test/pictures/main.ts',
  },
};

/** Operators' commands that need no bus. tools/ops/commands.ts has the others. */
const operations = {
  reconcile: {
    about: 'compares the chain with the records',
    setUp: OPERATOR,
    program: 'tools/reconcile.ts',
  },
  backup: { about: 'dumps or restores an environment', setUp: OPERATOR, program: 'tools/backup.ts' },
  'rebuild-projections': {
    about: 'rebuilds the lists of transactions from the records',
    setUp: OPERATOR,
    program: 'tools/rebuild-projections.ts',
  },
  synthetic: {
    about: 'makes a small real payment through the public API',
    setUp: OPERATOR,
    program: 'shared/jobs/synthetic.ts',
    usage: '(its settings are environment variables: docs/operations.md)',
  },
  nkey: { about: 'makes a key of the bus', setUp: OPERATOR, program: 'tools/nkey.ts' },
  'signing-keys': {
    about: 'replaces a signing key, step by step',
    setUp: OPERATOR,
    program: 'tools/signing-keys.ts',
  },
  'cluster-secrets': {
    about: 'prints the Secrets of a Kubernetes',
    setUp: OPERATOR,
    program: 'tools/cluster-secrets.ts',
  },
  'compose:init': {
    about: 'makes the keys and settings of deploy/compose.yaml',
    setUp: OPERATOR,
    program: 'deploy/compose/init.ts',
  },
  advisories: {
    about: 'lists the known advisories of all packages',
    setUp: OPERATOR,
    program: 'tools/advisories.ts',
  },
  sbom: {
    about: 'prints the bill of materials of the image',
    setUp: { ...OPERATOR, locked: 'tools/sbom' },
    program: 'tools/sbom/node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js',
    args: ['--package-lock-only', '--omit', 'dev', '--output-reproducible'],
  },
  'pin-images': {
    about: 'writes the digest of each image of others behind its tag, for a release',
    setUp: OPERATOR,
    program: 'tools/pin-images.ts',
  },
};

export const doors = {
  start: {
    about: 'runs the whole system on this machine, makes one payment, until Ctrl-C',
    setUp: { forStart: true, servers: true },
    continues: true,
    program: 'deploy/local/start.ts',
  },
  dev: {
    about: 'the same for development: replaces a service when its source changes, or lets a debugger in',
    setUp: { forStart: true, servers: true },
    continues: true,
    program: 'deploy/local/start.ts',
    args: ['--watch'],
  },
  test: {
    about: 'runs what a change needs: unit, simulation, integration and end-to-end tests, a fault campaign',
    setUp: FOR_OWN,
    ...suites(...OWN),
  },
  'test:quick': { about: 'runs the tests that need no servers', ...suites('unit') },
  'test:clients': {
    about: 'runs what people and their programs use: browsers, software of others, images, packages',
    setUp: FOR_CLIENTS,
    ...suites(...CLIENTS),
  },
  check: {
    about: 'checks types, format, generated files and the rules of the tree: before every commit',
    program: 'tools/check.ts',
  },
  generate: {
    about: 'writes the files that are derived from others',
    program: 'tools/generate.ts',
    args: ['--schemas'],
    usage: '',
  },
  prove: { about: 'proves a property of the system, or measures it', commands: proofs },
  ops: {
    about: 'what operators read and change (docs/operations.md)',
    commands: operations,
    others: { setUp: OPERATOR, program: 'tools/ops.ts' },
  },
};

/** What all commands run. */
export const programs = () =>
  Object.values(doors).flatMap(({ commands, others, ...door }) =>
    commands === undefined ? door : [...Object.values(commands), ...(others === undefined ? [] : [others])],
  );

/** `npm start` and `npm test` need no `run`. */
export const typed = (door) => (door === 'start' || door === 'test' ? `npm ${door}` : `npm run ${door}`);

const table = (rows) => {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
};
const lines = (commands) => Object.entries(commands).map(([name, { about }]) => [name, about]);

/** The help of a door with several commands. */
export const helpOf = (door) =>
  `Usage: ${typed(door)} -- <what> [options]\n\n${table(lines(doors[door].commands))}\n\n` +
  `${typed(door)} -- <what> --help lists the options.`;

/** The help of all commands. */
export const helpOfAll = () => {
  const all = Object.entries(doors).map(([door, { about }]) => [typed(door), about]);
  const several = Object.keys(doors).filter((door) => doors[door].commands !== undefined);
  return [
    table(all),
    ...several.map((door) => `${typed(door)} -- <what>\n${table(lines(doors[door].commands))}`),
    'Options follow a --, as in npm start -- --help.',
  ].join('\n\n');
};

/**
 * What a command line runs.
 * @returns `run`: a program with its arguments. `print`: a help. `refuse`: why there is nothing
 */
export const find = ([door, ...given]) => {
  if (door === undefined || door === '--help') return { print: helpOfAll() };
  if (!Object.hasOwn(doors, door)) return { refuse: `there is no command "${door}"\n\n${helpOfAll()}` };
  const { commands, others } = doors[door];
  if (commands === undefined) return resolved(typed(door), doors[door], given);
  const [name, ...rest] = given;
  if (name !== undefined && Object.hasOwn(commands, name))
    return resolved(`${typed(door)} -- ${name}`, commands[name], rest);
  if (others !== undefined) return resolved(typed(door), others, given);
  if (name === undefined || name === '--help') return { print: helpOf(door) };
  return { refuse: `${typed(door)} has no "${name}"\n\n${helpOf(door)}` };
};

const resolved = (typed, door, given) =>
  door.usage !== undefined && given.some((each) => each === '--help' || each === '-h')
    ? { print: `Usage: ${typed} -- ${door.usage}\n\n${door.about}` }
    : { run: { ...door, args: [...(door.args ?? []), ...given] } };

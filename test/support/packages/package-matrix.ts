/**
 * What the packages are tried with. `npm run prove -- packages` sets PACKAGES=all, and tries each
 * version that the READMEs claim. Other runs try the oldest and the newest, because each is
 * downloaded.
 */
const isComplete = process.env.PACKAGES === 'all';

const tried = <T>(versions: readonly T[]): readonly T[] =>
  isComplete ? versions : [versions[0]!, versions.at(-1)!];

/** The first Node that the packages claim, and the newest of each line since. */
export const NODES = tried(['22.19.0', '22', '24', '26']);

/** The first TypeScript that the README claims, the last of each line since, and one between. */
export const TYPESCRIPTS = tried(['5.0', '5.4', '5.9', '6.0', '7.0']);

const { platform, arch } = process;
const BUN = `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`;
const DENO = `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;

/** Other runtimes: the package that has the program for this machine, and how it runs a file. */
export const RUNTIMES = [
  { name: 'Bun', package: BUN, version: '1.4.5', program: 'bin/bun', args: [] },
  { name: 'Deno', package: DENO, version: '2.9.6', program: 'deno', args: ['run', '-A'] },
];

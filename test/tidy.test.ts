import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { gapsOf } from '../deploy/local/setup/lock-file.mjs';
import { contractList } from '../shared/contract/index.ts';
import { operatorOperations } from '../shared/contract/operator.ts';
import { outlineOf, readText } from './support/rules/outline.ts';

/** Tests what CONTRIBUTING.md and docs/ require of files and imports. */

const root = path.resolve(import.meta.dirname, '..');
const FOLDERS = '{services,shared,deploy,test,tools,bench,sdk,mcp,cli,gate,examples,console}';
const files = globSync(`${FOLDERS}/**/*.{ts,tsx,mjs,js,sql}`, {
  cwd: root,
  exclude: (name) => /node_modules|^(sdk|mcp|cli|gate|console)\/dist/.test(name),
}).sort();
const text = new Map(files.map((file) => [file, readText(file)]));
const sources = files.filter((file) => /\.tsx?$/.test(file));

const isTest = (file: string) => /\.test\.ts$|\/test-support\.ts$/.test(file);
/** What runs in production: the rules about packages and directions apply to it. */
const product = sources.filter((file) => /^(services|shared)\//.test(file) && !isTest(file));

const importsOf = (file: string): string[] => outlineOf(file).imports;
const inOrder = (names: Iterable<string>) => [...names].sort((a, b) => (a < b ? -1 : 1));
const isRelative = (name: string) => name.startsWith('.');
const target = (file: string, name: string) => path.posix.join(path.posix.dirname(file), name);

/** `file → forbidden import`, for a complete message. */
const offences = (of: readonly string[], allowed: (file: string, imported: string) => boolean): string[] =>
  of.flatMap((file) =>
    importsOf(file)
      .map((name) => (isRelative(name) ? target(file, name) : name))
      .filter((imported) => !allowed(file, imported))
      .map((imported) => `${file} → ${imported}`),
  );

// ---------- import directions ----------

const LAYERS: readonly [RegExp, RegExp][] = [
  [/^shared\/state-machine\.ts$/, /^$/],
  [/^shared\/contract\//, /^shared\/contract\//],
  [/^shared\/lib\//, /^shared\/((lib|contract)\/|state-machine\.ts$)/],
  [/^shared\/bus\//, /^shared\/(bus|lib|contract)\//],
  [/^shared\/db\//, /^shared\/((db|bus|lib|contract)\/|state-machine\.ts$)/],
  [/^shared\/lists\//, /^shared\/(lists|db|lib|contract)\//],
  [/^shared\/events\//, /^shared\/(events|db|bus|lib|contract)\//],
  [/^shared\/operator\//, /^shared\/(operator|events|db|bus|lib|contract)\//],
  [/^shared\/idempotency\//, /^shared\/(idempotency|db|bus|lib|contract)\//],
  [
    /^services\/[^/]+\/[^/]+\/model(\.ts$|\/)/,
    /^services\/[^/]+\/[^/]+\/model(\.ts$|\/)|^shared\/((lib|contract)\/|state-machine\.ts$)/,
  ],
  [
    /^services\/[^/]+\/[^/]+\/store(\.ts$|\/)/,
    /^services\/[^/]+\/[^/]+\/(model|store)(\.ts$|\/)|^shared\/(lists|events|db|lib|contract)\//,
  ],
];
const isOurs = (imported: string) => /^(services|shared|deploy|test|tools|bench|console)\//.test(imported);

test('imports have one direction: contract ← lib ← bus ← db ← events; models and stores import nothing above them', () => {
  const layered = (file: string, imported: string) => {
    const rule = LAYERS.find(([folder]) => folder.test(file));
    return rule === undefined || !isOurs(imported) || rule[1].test(imported);
  };
  expect(offences(product, layered)).toEqual([]);
});

test('the contract is data: besides its files it imports zod only', () => {
  const contract = product.filter((file) => file.startsWith('shared/contract/'));
  expect(contract).toContain('shared/contract/service.ts');
  expect(offences(contract, (_file, imported) => isOurs(imported) || imported === 'zod')).toEqual([]);
});

test('no service imports another, and nothing in shared imports a service', () => {
  const own = (file: string, imported: string) => {
    if (!imported.startsWith('services/')) return true;
    return file.startsWith('services/') && imported.split('/')[1] === file.split('/')[1];
  };
  expect(offences(product, own)).toEqual([]);
});

test('what runs in production imports nothing of deploy, test, tools, bench or console', () => {
  expect(
    offences(product, (_file, imported) => !/^(deploy|test|tools|bench|console)\//.test(imported)),
  ).toEqual([]);
});

test('the SDK is independent: it imports its files and no package', () => {
  const sdk = sources.filter((file) => file.startsWith('sdk/src/') && !isTest(file));
  expect(sdk).toContain('sdk/src/main.ts');
  expect(offences(sdk, (_file, imported) => imported.startsWith('sdk/src/'))).toEqual([]);
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(path.join(root, 'sdk/package.json'), 'utf8'),
  );
  expect({ dependencies, peerDependencies }).toEqual({});
});

test('the gate uses the SDK as an adapter of somebody else does: by its public entries', () => {
  const gate = sources.filter((file) => file.startsWith('gate/src/') && !isTest(file));
  const ENTRIES = /^sdk\/src\/(main|paywall\/(main|adapter|dialects\/(x402|mpp)))\.ts$/;
  const isEntry = (_file: string, imported: string) =>
    !imported.startsWith('sdk/src/') || ENTRIES.test(imported);
  expect(gate).toContain('gate/src/calls/gate.ts');
  expect(offences(gate, isEntry)).toEqual([]);
});

test('the console uses the system by the SDK only: besides it, it imports its files and packages of its page', () => {
  const page = sources.filter((file) => file.startsWith('console/src/') && !isTest(file));
  expect(page).toContain('console/src/main.tsx');
  const allowed = (file: string, imported: string) =>
    /^(console|sdk)\/src\//.test(imported) ||
    // The settings of a gate are checked by the gate's own schema.
    (file === 'console/src/selling/gate/draft.ts' && imported.startsWith('gate/src/')) ||
    (CONSOLE_PACKAGES[imported]?.test(file) ?? false);
  expect(offences(page, allowed)).toEqual([]);
  const others = sources.filter((file) => !file.startsWith('console/'));
  expect(offences(others, (_file, imported) => !imported.startsWith('console/'))).toEqual([]);
});

/**
 * The packages of the console's page, and where each may be imported. They are bundled, and none is
 * present in production.
 */
const CONSOLE_PACKAGES: Record<string, RegExp> = {
  react: /./,
  'react-dom/client': /^console\/src\/((pay|receipt)\/)?main\.tsx$/,
  'lucide-react': /^console\/src\/(ui\/|shell\/|home\/role\.tsx$|page-entry\.ts$|\w+\/pages\.ts$)/,
  'react-aria-components': /^console\/src\/(ui|shell)\//,
  '@tanstack/react-query': /^console\/src\/api\/(data|use-session)\.tsx?$/,
  '@simplewebauthn/browser': /^console\/src\/api\/passkeys\.ts$/,
  '@solana/kit': /^console\/src\/wallet\//,
  '@solana-program/token': /^console\/src\/wallet\/(payment|read)-transaction\.ts$/,
  '@solana/wallet-standard-features': /^console\/src\/wallet\/browser-wallets\.ts$/,
  '@wallet-standard/app': /^console\/src\/wallet\/browser-wallets\.ts$/,
  '@wallet-standard/base': /^console\/src\/wallet\//,
  '@wallet-standard/features': /^console\/src\/wallet\/browser-wallets\.ts$/,
  zod: /^console\/src\/selling\/gate\/no-eval\.ts$/,
  'zod/mini': /^console\/src\/wallet\/vault\.ts$/,
  qr: /^console\/src\/ui\/qr\.tsx$/,
  recharts: /^console\/src\/ui\/chart-bars\.tsx$/,
  lowlight: /^console\/src\/ui\/code-colours\.tsx$/,
  'highlight.js/lib/languages/bash': /^console\/src\/ui\/code-colours\.tsx$/,
  'highlight.js/lib/languages/json': /^console\/src\/ui\/code-colours\.tsx$/,
  'highlight.js/lib/languages/python': /^console\/src\/ui\/code-colours\.tsx$/,
  'highlight.js/lib/languages/typescript': /^console\/src\/ui\/code-colours\.tsx$/,
  'highlight.js/lib/languages/yaml': /^console\/src\/ui\/code-colours\.tsx$/,
  wouter: /./,
};

/**
 * Where a package may be imported in production. A new package needs a line here, with one place.
 */
const PACKAGES: Record<string, RegExp> = {
  zod: /./,
  '@fastify/cors': /^services\/gateway\/http\/cors\.ts$/,
  '@simplewebauthn/server': /^services\/identity\/passkeys\/webauthn\.ts$/,
  '@simplewebauthn/server/helpers': /^services\/identity\/passkeys\/webauthn\.ts$/,
  '@noble/ed25519': /^services\/chain-submitter\/chain\/addresses\.ts$/,
  '@opentelemetry/api': /^(shared|services)\//,
  '@opentelemetry/core': /^shared\/lib\/telemetry\/telemetry-prometheus\.ts$/,
  '@opentelemetry/exporter-prometheus': /^shared\/lib\/telemetry\/telemetry-prometheus\.ts$/,
  '@opentelemetry/resources': /^shared\/lib\/telemetry\/telemetry-(prometheus|sdk)\.ts$/,
  '@opentelemetry/sdk-metrics': /^shared\/lib\/telemetry\/telemetry-prometheus\.ts$/,
  '@opentelemetry/sdk-node': /^shared\/lib\/telemetry\/telemetry-sdk\.ts$/,
  '@solana/web3.js': /^services\/chain-submitter\//,
  '@solana/spl-token': /^services\/chain-submitter\//,
  bs58: /^services\/chain-submitter\/|^shared\/lib\/chain\/base58\.ts$/,
  'close-with-grace': /^shared\/lib\/shutdown\.ts$/,
  fastify: /^services\/gateway\//,
  ioredis: /^services\/gateway\/redis\/connect\.ts$/,
  'lru-cache': /^(shared|services)\//,
  'ipaddr.js': /^services\/webhook\/sender\/target\.ts$/,
  koffi: /^services\/chain-submitter\/signing\/pkcs11\/cryptoki\.ts$/,
  jose: /^shared\/lib\/tokens\/(access-token|receipt)\.ts$|^services\/funding\/deposits\/providers\/coinbase\.ts$|^services\/webhook\/endpoints\/secrets\.ts$/,
  nats: /^shared\/bus\//,
  'nats/lib/nats-base-client/idleheartbeat_monitor.js': /^shared\/bus\/reconnect\.ts$/,
  'nats/lib/nats-base-client/protocol.js': /^shared\/bus\/reconnect\.ts$/,
  'nats/lib/nats-base-client/request.js': /^shared\/bus\/connect\.ts$/,
  'nats/lib/nats-base-client/servers.js': /^shared\/bus\/reconnect\.ts$/,
  'nats/lib/src/node_transport.js': /^shared\/bus\/reconnect\.ts$/,
  negotiator: /^services\/gateway\/http\/problem\.ts$/,
  nodemailer: /^services\/identity\/mailer\/mailer\.ts$/,
  pg: /^shared\/(db|backup)\//,
  'pg-copy-streams': /^shared\/backup\/database\.ts$/,
  pino: /^shared\/lib\/telemetry\/logger\.ts$/,
  slonik: /^shared\/db\/(pool|prepared|spans)\.ts$/,
  '@slonik/pg-driver': /^shared\/db\/prepared\.ts$/,
  standardwebhooks: /^services\/webhook\/deliveries\/signed-headers\.ts$/,
  'typeid-js': /^shared\/lib\/id\.ts$/,
};

test('each package is imported in one place', () => {
  const known = (file: string, imported: string) => {
    if (imported.startsWith('node:') || isOurs(imported)) return true;
    return PACKAGES[imported]?.test(file) ?? false;
  };
  expect(offences(product, known)).toEqual([]);
});

test('a refusal that many files need is made in one function: invalid, notFound, conflict', () => {
  const handMade =
    /new ServiceError\(\s*('conflict'|'not_found',\s*'no such|'validation_error',\s*`\$\{(path|field)\})/;
  const others = product.filter((file) => file !== 'shared/contract/errors.ts');
  expect(others.filter((file) => handMade.test(text.get(file)!))).toEqual([]);
});

test('a model reads no clock, no file, no network and no random number', () => {
  const impure =
    /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|fetch\(|randomBytes|randomUUID|process\.)/;
  const models = product.filter((file) => /^services\/[^/]+\/[^/]+\/model(\.ts$|\/)/.test(file));
  expect(models.length).toBeGreaterThan(5);
  expect(models.filter((file) => impure.test(text.get(file)!))).toEqual([]);
  expect(offences(models, (_file, imported) => !/^node:(?!(crypto|url)$)/.test(imported))).toEqual([]);
});

// ---------- one file for everything that the contract names ----------

const filesIn = (folder: string, kind = '.ts') =>
  files
    .filter((file) => path.posix.dirname(file) === folder && file.endsWith(kind) && !isTest(file))
    .map((file) => path.posix.basename(file, kind))
    .sort();

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** Files of the noun folders of a service that have this stem. */
const inNounFolders = (service: string, stem: string) =>
  files.filter(
    (file) =>
      path.posix.basename(file) === `${stem}.ts` &&
      path.posix.dirname(path.posix.dirname(file)) === `services/${service}`,
  );

test.each(contractList.map((contract) => [contract.name, contract] as const))(
  '%s: one file for each operation and event of the contract',
  (name, { operations, internal, consumes }) => {
    const own = [...Object.keys(operations), ...Object.keys(internal)].filter(
      // shared/operator/handlers.ts answers the operators' operations for all services.
      (operation) => !Object.hasOwn(operatorOperations, operation) && operation !== 'listSentEvents',
    );
    const handlers = own.map((operation) => [operation, inNounFolders(name, kebab(operation)).length]);
    expect(handlers).toEqual(own.map((operation) => [operation, 1]));
    // Subscribers of a few lines share one file per publisher.
    const subscribers = consumes.map((event) => {
      const [publisher, past] = event.split('.') as [string, string];
      const alone = inNounFolders(name, `on-${publisher}-${kebab(past)}`);
      return [event, (alone.length > 0 ? alone : inNounFolders(name, `on-${publisher}`)).length];
    });
    expect(subscribers).toEqual(consumes.map((event) => [event, 1]));
    for (const part of ['main', 'config']) expect(filesIn(`services/${name}`)).toContain(part);
  },
);

test('every service folder is in the contract', () => {
  const folders = new Set(
    files.filter((file) => file.startsWith('services/')).map((file) => file.split('/')[1]!),
  );
  expect(inOrder(folders)).toEqual(inOrder(contractList.map(({ name }) => name)));
});

test('migrations are numbered from 0001 without gap or repetition', () => {
  const folders = new Set(
    files.filter((file) => file.includes('/migrations/')).map((file) => path.posix.dirname(file)),
  );
  expect(folders.size).toBeGreaterThan(1);
  for (const folder of folders) {
    const names = filesIn(folder, '.sql');
    const numbers = names.map((name) => /^(\d{4})_[a-z0-9_]+$/.exec(name)?.[1]);
    const expected = names.map((_, index) => String(index + 1).padStart(4, '0'));
    expect({ folder, numbers }).toEqual({ folder, numbers: expected });
  }
});

// ---------- no dead, large or leaking files ----------

test('every source is imported, started or configured', () => {
  const imported = new Set(
    files
      .filter((file) => !file.endsWith('.sql'))
      .flatMap((file) =>
        importsOf(file)
          .filter(isRelative)
          .map((name) => target(file, name).replace(/\.d\.mts$/, '.mjs')),
      ),
  );
  // Commands, and files that jest or a child process uses by name.
  const commands = [
    'package.json',
    'jest.config.js',
    'deploy/compose.yaml',
    'deploy/Dockerfile',
    'console/index.html',
    'console/pay.html',
    'console/receipt.html',
    ...files.filter((file) => /\.(ts|mjs)$/.test(file)),
  ];
  const namedBy = (file: string) => {
    const name = new RegExp(`['"/ ]${path.posix.basename(file).replaceAll('.', '\\.')}\\b`);
    return commands.some((other) => other !== file && name.test(readText(other)));
  };
  const { exports } = JSON.parse(readFileSync(path.join(root, 'sdk/package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>;
  };
  const entries = new Set(
    Object.values(exports).map((built) =>
      (typeof built === 'string' ? built : built.default)
        .replace('./dist/', 'sdk/src/')
        .replace('.js', '.ts'),
    ),
  );
  const alive = (file: string) =>
    imported.has(file) ||
    entries.has(file) ||
    isTest(file) ||
    path.posix.basename(file) === 'main.ts' ||
    file.startsWith('bench/') ||
    // Started by name (deploy/image/main.mjs).
    file.startsWith('shared/jobs/') ||
    namedBy(file);
  expect(sources.filter((file) => !alive(file))).toEqual([]);
});

test('each lock file has the checksum of every package, and no address of a registry', () => {
  const locks = globSync('**/package-lock.json', {
    cwd: root,
    exclude: (name) => /node_modules|^\.local/.test(name),
  });
  expect(locks.length).toBeGreaterThan(4);
  const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  expect(locks.flatMap((file) => gapsOf(read(file)).map((gap) => `${file}: ${gap}`))).toEqual([]);
});

/** The schema dumps show what the migrations make. These never change, so none is split later. */
const NOT_SPLIT = /\/generated\/|\/schema\.sql$|\/migrations\/\d{4}_[a-z0-9_]+\.sql$/;
test('no handwritten source is longer than 400 lines', () => {
  const long = [...text].filter(
    ([file, content]) => content.split('\n').length > 401 && !NOT_SPLIT.test(file),
  );
  expect(long.map(([file]) => file)).toEqual([]);
});

test('only the configuration reads the environment', () => {
  const reading = product.filter((file) => text.get(file)!.includes('process.env'));
  // The samples of the reference read it in the program of their reader.
  expect(reading).toEqual(['shared/contract/code-samples.ts', 'shared/lib/config.ts']);
});

/** What a second renderer or parser of amounts divides by or pads to. */
const RENDERS_MONEY =
  /[/%] ?1_?000_?000n\b|pad(Start|End)\([67], '0'\)|(micro|amount|price|usdc)\w*\)* ?\/ ?(1e6|1_000_000)\b/i;
/** The one place, its copy in the SDK, and numbers that are no text for people. */
const MAY_DIVIDE = [
  'bench/route/vendor.ts', // a price in the format of x402's packages
  'console/src/ui/chart-bars.tsx', // the height of a bar
  'sdk/src/generated/usdc.ts',
  'shared/lib/money/usdc.ts',
];

test('amounts are rendered and parsed in one file', () => {
  const all = files.filter((file) => !isTest(file) && RENDERS_MONEY.test(text.get(file)!));
  expect(all).toEqual(MAY_DIVIDE);
});

/** A type that is read off a function says what the compiler knows, and no word for it. */
test('services name the types of what they take', () => {
  const services = product.filter((file) => file.startsWith('services/'));
  expect(services.filter((file) => text.get(file)!.includes('Parameters<typeof '))).toEqual([]);
});

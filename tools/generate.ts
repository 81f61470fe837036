import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openApiDocument } from '../shared/contract/openapi.ts';
import { alertFiles } from './alarms/alert-files.ts';
import { objectivesPage } from './alarms/objectives-page.ts';
import { serversPage } from './alarms/servers-page.ts';
import { benchmarksPage, scalePage } from './capacity/scale-page.ts';
import { CHECKSUMS_FILE, checksumsFile } from './checksums.ts';
import { surfaceText } from './compare/present.ts';
import { SURFACE_FILE } from './compare/stored.ts';
import { clusterFiles } from './k8s/files.ts';
import { architecturePicture } from './pages/architecture-picture.ts';
import { consoleExamples } from './pages/console-examples.ts';
import { consoleGuides } from './pages/console-guides.ts';
import { errorsPage } from './pages/errors-page.ts';
import { eventsGuide, limitsGuide } from './pages/guide-pages.ts';
import { mapPage } from './pages/map-page.ts';
import { metricsPage } from './pages/metrics-page.ts';
import { pricingGuide } from './pages/pricing-page.ts';
import { statedVersions } from './pages/stated-versions.ts';
import { x402Page } from './pages/x402-page.ts';
import { sdkCopy, sdkErrors, sdkLimits, sdkOperations } from './sdk/sdk-sources.ts';
import { sdkTypes } from './sdk/sdk-types.ts';

/**
 * Writes the files that are derived from the contract, the services' settings, the catalog of
 * metrics and the examples into docs/, sdk/, k8s/ and console/. With --check it writes nothing,
 * names every file that differs, and exits 1 if there is one. With --schemas it also runs
 * tools/dump-schema.ts, which needs a database server.
 */
const root = path.resolve(import.meta.dirname, '..');

/** JSON in the layout of the tree: an object that fits has one line. */
const formatted = (json: unknown): string => inLayout('openapi.json', JSON.stringify(json));

const inLayout = (file: string, input: string): string =>
  execFileSync(path.join(root, 'node_modules/.bin/biome'), ['format', `--stdin-file-path=${file}`], {
    cwd: root,
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });

/** A changed migration is an error of its author, so he gets one line. */
const checksums = (): string => {
  try {
    return inLayout(CHECKSUMS_FILE, checksumsFile(root));
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
};

const outputs: Record<string, string> = {
  [CHECKSUMS_FILE]: checksums(),
  'docs/openapi.json': formatted(openApiDocument({ serverUrl: '/' })),
  [SURFACE_FILE]: await surfaceText(),
  'docs/errors.md': errorsPage(),
  'docs/guides/events.md': eventsGuide(),
  'docs/guides/limits.md': limitsGuide(),
  'docs/guides/pricing.md': pricingGuide(),
  'docs/map.md': mapPage(),
  'docs/architecture.svg': architecturePicture(),
  'docs/metrics.md': metricsPage(),
  'docs/objectives.md': objectivesPage(),
  'docs/runbook-servers.md': serversPage(),
  'docs/x402.md': x402Page(),
  'docs/scale.md': await scalePage(),
  'docs/benchmarks.md': benchmarksPage(),
  'sdk/src/generated/types.ts': await sdkTypes(),
  'sdk/src/generated/operations.ts': sdkOperations(),
  'sdk/src/generated/errors.ts': sdkErrors(),
  'sdk/src/generated/limits.ts': sdkLimits(),
  'sdk/src/generated/payees.ts': sdkCopy('shared/lib/money/payees.ts'),
  'sdk/src/generated/nearest.ts': sdkCopy('shared/contract/nearest.ts'),
  'sdk/src/generated/usdc.ts': sdkCopy('shared/lib/money/usdc.ts'),
  'console/src/generated/examples.ts': consoleExamples(),
  'console/src/generated/guides.ts': consoleGuides(),
  ...alertFiles(),
  ...statedVersions(),
  ...(await clusterFiles()),
};

const current = (file: string): string | null =>
  existsSync(path.join(root, file)) ? readFileSync(path.join(root, file), 'utf8') : null;
const stale = Object.entries(outputs).filter(([file, content]) => current(file) !== content);

if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} differs from its sources: run npm run generate`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [file, content] of stale) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), content);
    console.log(`wrote ${file}`);
  }
}
if (process.argv.includes('--schemas')) await import('./dump-schema.ts');

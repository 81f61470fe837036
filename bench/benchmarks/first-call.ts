import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createConsumer, createDelegate, createVendor } from '../../deploy/local/seed/actors.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { LOCAL_API } from '../../shared/lib/local-api.ts';
import { packages } from '../../test/support/packages/packages.ts';
import {
  createShell,
  gateValues,
  guideSnippets,
  installCommands,
  withValues,
} from '../../test/support/rules/guide-snippets.ts';
import type { Benchmark } from '../harness/run.ts';
import { startBenchStack } from '../harness/stack.ts';
import { percentile } from '../harness/statistics.ts';

/** Of a local chain, as a cluster has them. */
const SLOT_MS = 400;

/** The commands of the guide until its first paid call, without the one that installs. */
const commands = (): string[] => {
  const all = guideSnippets().filter(({ guide, language }) => guide === 'any-api' && language === 'sh');
  const paid = all.findIndex(({ code }) => code.includes('@quittance/cli pay'));
  if (paid === -1) throw new Error('docs/guides/any-api.md has no payment');
  return all
    .slice(0, paid + 1)
    .map(({ code }) => code)
    .filter((code) => !code.includes('npm pack'));
};

/** From an empty folder to the first paid call, by the commands of docs/guides/any-api.md. */
export const firstCall: Benchmark = {
  about: 'seconds from an empty folder to the first paid call through a gate, by its guide',
  run: async (run) => {
    const { api, stack } = await startBenchStack(run, 'stack', { chainSlotMs: SLOT_MS });
    const [vendor, consumer] = [await createVendor(api, stack), await createConsumer(api, stack)];
    const delegate = await createDelegate(api, consumer, { daily: '90000000' });
    const made = await packages();
    const programs = {
      cli: path.join(made.files('cli'), 'dist/quittance.js'),
      gate: path.join(made.files('gate'), 'dist/quittance-gate.js'),
    };
    const ports = createPortPicker();
    const seconds: number[] = [];
    for (let round = 0; round < run.options.rounds; round += 1) {
      const folder = mkdtempSync(path.join(tmpdir(), 'quittance-first-call-'));
      const bin = path.join(folder, 'bin');
      installCommands(bin, programs);
      const env = {
        PATH: `${bin}${path.delimiter}${process.env.PATH}`,
        HOME: folder,
        QUITTANCE_URL: stack.gateway_url,
        SERVICE_ID: vendor.serviceId,
        SERVICE_KEY: vendor.apiKey,
        DELEGATE_KEY: delegate.api_key,
      };
      const values: [string, string][] = [
        ['8402', String(await ports.any())],
        ...(await gateValues(ports)),
        [LOCAL_API, stack.gateway_url],
      ];
      const shell = createShell(folder, 'guide', env);
      const startedAt = performance.now();
      try {
        for (const code of commands()) await shell.run(withValues(code, values, env));
      } finally {
        shell.stop();
      }
      seconds.push((performance.now() - startedAt) / 1000);
      if (!shell.output().includes('All is well.')) throw new Error(shell.output());
      rmSync(folder, { recursive: true });
    }
    run.report.table(
      'seconds from an empty folder to the first paid call',
      ['runs', 'least', 'median', 'most'],
      [[seconds.length, Math.min(...seconds), percentile(seconds, 0.5), Math.max(...seconds)]],
    );
    run.report.note('`npm start` runs, and the packages are installed.');
  },
};

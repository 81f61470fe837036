import { expect, test } from '@jest/globals';
import { externalServers } from '../support/jest/external-servers.ts';
import { testStateDir } from '../support/servers/test-state.ts';
import { runCampaign } from './campaign.ts';
import { ownTraffic } from './own/traffic.ts';
import { breakLine } from './report.ts';
import { tabTraffic } from './tabs/traffic.ts';

/**
 * The short form of `npm run prove -- faults --versions` and `--traffic tabs` (docs/faults.md): an
 * upgrade under load, process by process, and half of the way back. Processes also die before and
 * after it.
 */
const FAULTS = [
  'two-versions',
  'kill-settlement#2',
  'kill-chain-submitter#2',
  'crash-after-settlement.afterAccept',
  'crash-before-settlement.afterCapture',
  'crash-after-settlement.beforeCapture',
  'crash-after-submitter.afterCommit',
];
const LEAST = { own: 15, x402: 0, outgoing: 0, paywall: 0, tabs: 30, gate: 0 };
/** The test proves correctness, not speed: a busy machine may take long. */
const TEST_MS = 1_200_000;

// Servers that the caller provides have no migrations of this test.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'while two versions run and processes die, no payment and no counted use is lost or made twice',
  async () => {
    const lines: string[] = [];
    const report = await runCampaign({
      stateDir: testStateDir('versions'),
      traffic: [ownTraffic({ perSecond: 1 }), tabTraffic({ perSecond: 2, buyers: 4, cheaters: 2 })],
      faults: FAULTS,
      versions: 'short',
      seconds: 0,
      everyFault: true,
      leastPayments: LEAST,
      seed: 20_261_130,
      abandoned: 0,
      terminalMs: 180_000,
      print: (line) => lines.push(line),
    });
    const breaks = report.breaks.map(breakLine);
    expect({ breaks, progress: breaks.length > 0 ? lines : [] }).toEqual({ breaks: [], progress: [] });
    expect(report.rows.filter(({ events }) => events === 0)).toEqual([]);
    for (const { name, attempts, paid } of report.outcomes) {
      expect(attempts).toBeGreaterThanOrEqual(LEAST[name]);
      expect(paid).toBeGreaterThan(LEAST[name] / 3);
    }
  },
  TEST_MS,
);

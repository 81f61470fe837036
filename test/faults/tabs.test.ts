import { expect, test } from '@jest/globals';
import { externalServers } from '../support/jest/external-servers.ts';
import { testStateDir } from '../support/servers/test-state.ts';
import { runCampaign } from './campaign.ts';
import { breakLine } from './report.ts';
import { tabTraffic } from './tabs/traffic.ts';

/** The short form of `npm run prove -- faults --traffic tabs` (docs/faults.md): one schedule. */
const FAULTS = [
  'kill-settlement#2',
  'kill-chain-submitter#2',
  'crash-after-settlement.afterAccept',
  'crash-before-settlement.afterCapture',
  'crash-after-settlement.beforeCapture',
  'crash-after-submitter.afterCommit',
];
const LEAST = 30;
/** The test proves correctness, not speed: a busy machine may take long. */
const TEST_MS = 1_200_000;

// Servers that the caller provides must not be killed.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'under faults what was used of a tab is captured once or released, and no counted use is lost',
  async () => {
    const lines: string[] = [];
    const report = await runCampaign({
      stateDir: testStateDir('tabs'),
      traffic: [tabTraffic({ perSecond: 3, buyers: 4, cheaters: 2 })],
      faults: FAULTS,
      seconds: 0,
      everyFault: true,
      leastPayments: { own: 0, x402: 0, outgoing: 0, paywall: 0, tabs: LEAST, gate: 0 },
      seed: 20_260_101,
      abandoned: 0,
      terminalMs: 180_000,
      print: (line) => lines.push(line),
    });
    const breaks = report.breaks.map(breakLine);
    expect({ breaks, progress: breaks.length > 0 ? lines : [] }).toEqual({ breaks: [], progress: [] });
    expect(report.rows.filter(({ events }) => events === 0)).toEqual([]);
    const [tabs] = report.outcomes;
    expect(tabs!.attempts).toBeGreaterThanOrEqual(LEAST);
    expect(tabs!.paid).toBeGreaterThan(LEAST / 3);
  },
  TEST_MS,
);

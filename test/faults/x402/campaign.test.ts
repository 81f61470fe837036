import { expect, test } from '@jest/globals';
import { externalServers } from '../../support/external-servers.ts';
import { testStateDir } from '../../support/test-state.ts';
import { runX402Campaign } from './campaign.ts';

/** The short form of `npm run faults -- --x402` (docs/faults.md), always in the same schedule. */
const FAULTS = [
  'crash-before-settlement.afterAccept',
  'crash-before-submitter.afterCommit',
  'crash-after-submitter.afterSend',
  'crash-before-gateway.beforeHandOut',
  'crash-before-settlement.beforeIssue',
  'nats-kill',
  'postgres-kill',
  'rpc-send-times-out',
  'rpc-null-status',
  'fork-after-redeem',
];
const PAYMENTS = 50;
/** The test proves correctness, not speed: a busy machine may take long. */
const TERMINAL_MS = 180_000;

// Servers that the caller provides must not be killed.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'under all faults no payment of x402 fails that was paid, and none succeeds twice',
  async () => {
    const lines: string[] = [];
    const report = await runX402Campaign({
      stateDir: testStateDir('faults-x402'),
      payments: PAYMENTS,
      faults: FAULTS,
      seed: 20_260_402,
      abandoned: 0,
      terminalMs: TERMINAL_MS,
      print: (line) => lines.push(line),
    });
    const breaks = report.breaks.map(({ invariant, what }) => `${invariant}: ${what}`);
    expect({ breaks, progress: breaks.length > 0 ? lines : [] }).toEqual({ breaks: [], progress: [] });
    expect(report.purchases).toBe(PAYMENTS);
    expect(report.delivered).toBeGreaterThan(PAYMENTS / 3);
    expect(Object.keys(report.faults).length).toBeGreaterThan(2);
  },
  300_000,
);

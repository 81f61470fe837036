import { expect, test } from '@jest/globals';
import { externalServers } from '../../support/external-servers.ts';
import { installInterop } from '../../support/interop.ts';
import { testStateDir } from '../../support/test-state.ts';
import { runOutgoingCampaign } from './campaign.ts';

/**
 * The short form of `npm run faults -- --outgoing` (docs/faults.md), always in the same schedule.
 */
const FAULTS = [
  'crash-after-settlement.afterAccept',
  'crash-before-submitter.afterCommit',
  'crash-after-submitter.afterCommit',
  'kill-identity',
  'nats-kill',
  'postgres-kill',
  'rpc-null-status',
  'fork-after-redeem',
];
const PAYMENTS = 30;
/** The test proves correctness, not speed: a busy machine may take long. */
const TERMINAL_MS = 180_000;

// Servers that the caller provides must not be killed.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'under all faults no outgoing payment is released that may be used, and none is paid twice',
  async () => {
    await installInterop('x402');
    const lines: string[] = [];
    const report = await runOutgoingCampaign({
      stateDir: testStateDir('faults-outgoing'),
      payments: PAYMENTS,
      buyers: 4,
      faults: FAULTS,
      seed: 20_260_403,
      abandoned: 0,
      terminalMs: TERMINAL_MS,
      print: (line) => lines.push(line),
    });
    const breaks = report.breaks.map(({ invariant, what }) => `${invariant}: ${what}`);
    expect({ breaks, progress: breaks.length > 0 ? lines : [] }).toEqual({ breaks: [], progress: [] });
    expect(report.signed).toBeGreaterThanOrEqual(PAYMENTS);
    expect(report.transfers).toBeGreaterThan(PAYMENTS / 3);
    expect(Object.keys(report.faults).length).toBeGreaterThan(2);
  },
  400_000,
);

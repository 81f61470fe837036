import { expect, test } from '@jest/globals';
import { externalServers } from '../support/external-servers.ts';
import { testStateDir } from '../support/test-state.ts';
import { runCampaign } from './campaign.ts';

/**
 * The short form of `npm run faults` (docs/faults.md): some faults of each kind, always in the same
 * schedule.
 */
const FAULTS = [
  'kill-settlement',
  'kill-chain-submitter',
  'kill-gateway',
  'crash-after-settlement.afterAccept',
  'crash-before-submitter.afterCommit',
  'crash-after-submitter.afterSend',
  'nats-wipe',
  'messages-doubled',
  'postgres-kill',
  'rpc-send-times-out',
  'rpc-lies-error',
  'rpc-lies-confirmation',
  'fork-after-redeem',
  'expiry-of-dropped-sends',
];
const SECONDS = 20;
const LEAST_FAULTS = 5;
/** The test proves correctness, not speed: a busy machine may take long. */
const TERMINAL_MS = 180_000;

// Servers that the caller provides must not be killed.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'under all faults no payment is lost and none is made twice',
  async () => {
    const lines: string[] = [];
    const report = await runCampaign({
      stateDir: testStateDir('faults'),
      seconds: SECONDS,
      leastFaults: LEAST_FAULTS,
      seed: 20_260_101,
      faults: FAULTS,
      perSecond: 8,
      terminalMs: TERMINAL_MS,
      print: (line) => lines.push(line),
    });
    const breaks = report.breaks.map(
      ({ invariant, what, attempt }) => `${invariant}: ${what} ${attempt?.id ?? ''}`,
    );
    expect({ breaks, progress: breaks.length > 0 ? lines : [] }).toEqual({ breaks: [], progress: [] });
    expect(report.paid).toBeGreaterThan(10);
    expect(report.rows.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThanOrEqual(LEAST_FAULTS);
  },
  300_000,
);

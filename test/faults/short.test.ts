import { expect, test } from '@jest/globals';
import { externalServers } from '../support/external-servers.ts';
import { testStateDir } from '../support/test-state.ts';
import { runCampaign } from './campaign.ts';

/** The short form of `npm run faults` (docs/faults.md): one of each kind, always the same schedule. */
const FAULTS = [
  'kill-settlement',
  'kill-chain-submitter',
  'kill-gateway',
  'crash-after-settlement.afterAccept',
  'crash-before-submitter.afterCommit',
  'crash-after-submitter.afterSend',
  'pause-chain-submitter#2',
  'nats-wipe',
  'postgres-kill',
  'postgres-terminate',
  'redis-kill',
  'rpc-send-times-out',
  'rpc-null-status-past-expiry',
  'fork-after-redeem',
  'fork-original-never-lands',
  'expiry-of-dropped-sends',
  'rolling-restart',
];

// Servers of somebody else are not ours to kill.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'no payment is lost and none is made twice while everything breaks',
  async () => {
    const lines: string[] = [];
    const report = await runCampaign({
      stateDir: testStateDir('faults'),
      seconds: 30,
      seed: 20_260_101,
      faults: FAULTS,
      perSecond: 8,
      print: (line) => lines.push(line),
    });
    const breaks = report.breaks.map(
      ({ invariant, what, attempt }) => `${invariant}: ${what} ${attempt?.id ?? ''}`,
    );
    expect({ breaks, progress: breaks.length > 0 ? lines : [] }).toEqual({ breaks: [], progress: [] });
    expect(report.paid).toBeGreaterThan(20);
    expect(report.rows.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(5);
  },
  300_000,
);

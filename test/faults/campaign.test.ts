import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { externalServers } from '../support/jest/external-servers.ts';
import { installInterop } from '../support/others/interop.ts';
import { testStateDir } from '../support/servers/test-state.ts';
import { runCampaign } from './campaign.ts';
import { outgoingTraffic } from './outgoing/traffic.ts';
import { ownTraffic } from './own/traffic.ts';
import { paywallTraffic } from './paywall/traffic.ts';
import { breakLine } from './report.ts';
import { x402Traffic } from './x402/traffic.ts';

/**
 * The short form of `npm run prove -- faults` (docs/faults.md): some faults of each kind, always in
 * the same schedule. Each of them happens at least once.
 */
const FAULTS = [
  'kill-settlement#2',
  'kill-chain-submitter#2',
  'kill-gateway#2',
  'kill-identity',
  'crash-before-settlement.afterAccept',
  'crash-after-settlement.afterAccept',
  'crash-before-settlement.beforeIssue',
  'crash-before-submitter.afterCommit',
  'crash-after-submitter.afterCommit',
  'crash-after-submitter.afterSend',
  'crash-before-gateway.beforeHandOut',
  'nats-kill',
  'nats-wipe',
  'events-dropped',
  'messages-doubled',
  'postgres-kill',
  'rpc-send-times-out',
  'rpc-null-status',
  'rpc-lies-error',
  'rpc-lies-confirmation',
  'fork-after-redeem',
  'expiry-of-dropped-sends',
];
/** So many of each kind begin. A fork may remove some of those that have succeeded. */
const PAYMENTS = { own: 50, x402: 50, outgoing: 30, paywall: 20, tabs: 0, gate: 0 };
/** The test proves correctness, not speed: a busy machine may take long. */
const TERMINAL_MS = 180_000;
const CAMPAIGN_MS = 1_140_000;
const TEST_MS = 1_200_000;

// Servers that the caller provides must not be killed.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'under all faults no payment of any kind is lost, made twice or released while it may be used',
  async () => {
    await installInterop('x402');
    const lines: string[] = [];
    const campaign = runCampaign({
      stateDir: testStateDir('faults'),
      traffic: [
        ownTraffic({ perSecond: 4 }),
        x402Traffic({ perSecond: 2, purchases: PAYMENTS.x402 }),
        outgoingTraffic({ perSecond: 2, accounts: 4, payments: PAYMENTS.outgoing }),
        paywallTraffic({ perSecond: 1, buyers: 6, purchases: PAYMENTS.paywall }),
      ],
      faults: FAULTS,
      seconds: 0,
      everyFault: true,
      leastPayments: PAYMENTS,
      seed: 20_260_101,
      abandoned: 0,
      terminalMs: TERMINAL_MS,
      print: (line) => lines.push(line),
    });
    const report = await Promise.race([campaign, sleep(CAMPAIGN_MS, null, { ref: false })]);
    if (report === null) throw new Error(`the campaign did not end:\n${lines.join('\n')}`);
    const breaks = report.breaks.map(breakLine);
    expect({ breaks, progress: breaks.length > 0 ? lines : [] }).toEqual({ breaks: [], progress: [] });
    expect(report.rows.filter(({ events }) => events === 0)).toEqual([]);
    for (const { name, attempts, paid } of report.outcomes) {
      expect(attempts).toBeGreaterThanOrEqual(PAYMENTS[name]);
      expect(paid).toBeGreaterThan(PAYMENTS[name] / 3);
    }
    expect(report.outcomes).toHaveLength(4);
  },
  TEST_MS,
);

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type SubmitterFixture,
  startSubmitterFixture,
} from '../support/fixtures/chain-submitter/submitter.ts';
import type { ServiceProcess } from '../support/servers/service-process.ts';
import { type AttackName, attackNames, attackOf, runAttack } from './attack.ts';

/**
 * The short form of `npm run prove -- economics` (docs/economics.md): what an attack can cost the
 * platform at most.
 */
const SIGNATURES = 10_000n;
/** Two signatures and the highest priority fee of a payment that another client has signed. */
const MOST_FEES = 30_000n;
/** Settles, approvals and transfers that create a token account cost fees for each one included. */
const costs = (created: number, others = 0) => ({ created, fees: SIGNATURES * BigInt(created + others) });

const BOUNDS: Record<AttackName, { rounds: number; created: number; fees: bigint; refused: number }> = {
  'vendor closes its payout account and comes back': { rounds: 20, ...costs(1), refused: 19 },
  'vendor settles old quotes, past the check of the quote': { rounds: 20, ...costs(1), refused: 19 },
  'vendor takes a new payout address each time': { rounds: 20, ...costs(3), refused: 17 },
  'consumer closes its account and delegates anew': { rounds: 20, ...costs(1), refused: 19 },
  'consumer provisions a new wallet each time': { rounds: 20, ...costs(3), refused: 17 },
  'consumer closes its account and asks for test funds': { rounds: 20, ...costs(1), refused: 19 },
  // 50 approvals and 10 revocations a day.
  'account approves and revokes in turn': { rounds: 110, ...costs(0, 60), refused: 50 },
  // 50 transfers a day, whether they fail or not.
  'transfers pass simulation and fail on the chain': { rounds: 60, ...costs(0, 50), refused: 10 },
  'five prepared transfers to one fresh address, closed in between': { rounds: 4, ...costs(4), refused: 4 },
  // Three of the five payments of each source are signed, with the highest fee of 30,000 lamports.
  'buyer empties its source while x402 payments are under way': {
    ...{ rounds: 3, created: 0, fees: 3n * 3n * MOST_FEES, refused: 3 },
  },
  // Four failures, and what the last source has under way with them.
  'sources are emptied until their vendor is blocked': {
    ...{ rounds: 4, created: 0, fees: 6n * MOST_FEES, refused: 4 },
  },
  // Twenty failures, three of each source.
  'sources of MPP are emptied, to a vendor that has received nothing': {
    ...{ rounds: 8, created: 0, fees: 20n * MOST_FEES, refused: 2 },
  },
  'x402 payments use up the hour of all vendors': { rounds: 20, ...costs(0, 10), refused: 10 },
  // Half of the rounds, with five payments each.
  'x402 payments use up the lamports of all vendors': {
    ...{ rounds: 20, created: 0, fees: 10n * 5n * MOST_FEES, refused: 10 },
  },
  // Each of the accounts requests three. Together they may have one each.
  'quotes from a thousand accounts': { rounds: 20, ...costs(20), refused: 13 },
};

let fixture: SubmitterFixture;
let service: ServiceProcess;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  service = await fixture.start();
});
afterAll(() => fixture.stop());

/** Restarts the service with the settings of an attack, on a day on which nothing is reserved. */
const restart = async (env: Record<string, string>): Promise<void> => {
  await service.stop();
  await fixture.admin.query('delete from spending');
  service = await fixture.start(env);
};

test.each(attackNames)(
  '%s: costs its bound and no more, and delays no other payer’s settle',
  async (name) => {
    const { rounds, created, fees, refused } = BOUNDS[name];
    const { env } = attackOf(name);
    if (env !== undefined) await restart(env(rounds));
    const result = await runAttack(fixture, name, rounds);
    expect(result.bystanders).toBe(Math.floor(rounds / Math.max(1, Math.floor(rounds / 10))));
    expect(result.created).toBeLessThanOrEqual(created);
    expect(result.fees).toBeLessThanOrEqual(fees);
    expect(result.refused).toBeGreaterThanOrEqual(refused);
  },
);

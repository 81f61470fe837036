import { expect, test } from '@jest/globals';
import { startSubmitterFixture } from '../support/submitter.ts';
import { attacks, type Result, runAttack } from './attack.ts';

/**
 * The short form of `npm run economics` (docs/economics.md): what an attack can cost the platform
 * at most.
 */
const SIGNATURES = 10_000n;
/** Settles, approvals and transfers that create a token account cost fees for each one included. */
const costs = (created: number, others = 0) => ({ created, fees: SIGNATURES * BigInt(created + others) });

const BOUNDS: Record<string, { rounds: number; created: number; fees: bigint; refused: number }> = {
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
  // Each of the accounts requests three. Together they may have one each.
  'quotes from a thousand accounts': { rounds: 20, ...costs(20), refused: 13 },
};

test.each(Object.keys(attacks))(
  '%s: costs its bound and no more, and delays no other payer’s settle',
  async (name) => {
    const { rounds, created, fees, refused } = BOUNDS[name]!;
    const { env, slotMs } = attacks[name]!;
    const fixture = await startSubmitterFixture(slotMs === undefined ? {} : { slotMs });
    let result: Result;
    try {
      await fixture.start(env?.(rounds) ?? {});
      result = await runAttack(fixture, name, rounds);
    } finally {
      await fixture.stop();
    }
    expect(result.bystanders).toBe(Math.floor(rounds / Math.max(1, Math.floor(rounds / 10))));
    expect(result.created).toBeLessThanOrEqual(created);
    expect(result.fees).toBeLessThanOrEqual(fees);
    expect(result.refused).toBeGreaterThanOrEqual(refused);
  },
  120_000,
);

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SubmitterFixture, startSubmitterFixture } from '../support/submitter.ts';
import { attacks, runAttack } from './attack.ts';

/** The short form of `npm run economics` (docs/economics.md). */
const ROUNDS = 20;
const MOST_CREATED: Record<string, number> = {
  'vendor closes its payout account and comes back': 1,
  'vendor settles old quotes, past the check of the quote': 1,
  'vendor takes a new payout address each time': 3,
  'consumer closes its account and delegates anew': 1,
  'consumer provisions a new wallet each time': 3,
  'consumer closes its account and asks for test funds': 1,
};

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
}, 60_000);
afterAll(() => fixture.stop());

test.each(Object.keys(attacks))(
  '%s: costs the quota and no more, and blocks nobody’s settle',
  async (name) => {
    const { created, refused, rent, lamports, bystanders } = await runAttack(fixture, name, ROUNDS);
    expect(created).toBe(MOST_CREATED[name]);
    expect(created + refused).toBe(ROUNDS);
    expect(bystanders).toBe(10);
    // Beside the rent: at most two signatures of 5,000 lamports for each transaction that landed.
    expect(lamports - rent).toBeLessThanOrEqual(10_000n * BigInt(created));
  },
  90_000,
);

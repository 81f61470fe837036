import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Fixture } from '../fault.ts';
import { actionsOf, type Undo, whileSubmittersStand } from '../owner-actions.ts';

const PAYMENTS = 4;
const PRICE = 1_000_000n;
const ALLOWANCE = 10_000_000_000n;
const SIGNED_MS = 5000;

const deeds = ({
  harness,
  actors: { fickle },
}: Fixture): Record<'overwritten' | 'emptied', () => Promise<Undo>> => {
  const { overwritten, emptied } = actionsOf(harness, fickle.wallet);
  return { emptied, overwritten: () => overwritten(fickle.view.delegation.delegate!, ALLOWANCE) };
};

/**
 * The money or the permission is removed between acceptance and inclusion: the signed bytes are
 * included and fail on chain. Payer and vendor must learn that nothing moved, with that reason.
 */
const failing = (fixture: Fixture, name: string, deed: 'overwritten' | 'emptied'): Fault => ({
  name,
  holdMs: [200, 800],
  isAlone: true,
  inject: async (rng) => {
    const { harness, client, clientLog, actors } = fixture;
    const { fickle } = actors;
    const vendor = rng.pick(actors.vendors);
    const deadline = Date.now() + SIGNED_MS;
    const quotes = await Promise.all(
      Array.from({ length: PAYMENTS }, () =>
        client.quote(vendor, { quote_amount: PRICE.toString() }, () => Date.now() < deadline),
      ),
    );
    const attempts = quotes.flatMap((quote) =>
      quote === null ? [] : [clientLog.begin(fickle, vendor, quote)],
    );
    await harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
    const calls = Promise.all(attempts.map(client.settle));
    const signed = async () => {
      const [row] = await harness.query<{ n: number }>(
        `select count(*)::int as n from chain_submitter.intents
         where request ->> 'payment_attempt_id' = any($1) and status = 'signed'`,
        [attempts.map(({ id }) => id)],
      );
      return row!.n === attempts.length;
    };
    while (!(await signed().catch(() => false)) && Date.now() < deadline + SIGNED_MS) await sleep(50);
    // No other client uses the wallet during the owner's action.
    const undo = await whileSubmittersStand(harness, async () => {
      await harness.rpc('chain_fault');
      // An owner who cannot: the fault did not come about.
      return deeds(fixture)
        [deed]()
        .catch(() => null);
    });
    if (undo === null) {
      await calls;
      return null;
    }
    return async () => {
      await calls;
      // All of it is final before the wallet is restored. Otherwise a later generation would be
      // paid.
      await sleep(40 * harness.slotMs);
      await undo();
      // If the owner took long, clients gave up before. Those attempts are queried at the end.
      if (attempts.every(({ outcome }) => outcome === 'paid'))
        fixture.breaks.push({
          invariant: 'the-owner-was-in-time',
          what: `${name}: all of ${attempts.length} were paid`,
        });
    };
  },
});

export const ownerFaults = (fixture: Fixture): Fault[] => [
  failing(fixture, 'approval-overwritten-before-inclusion', 'overwritten'),
  failing(fixture, 'wallet-emptied-before-inclusion', 'emptied'),
];

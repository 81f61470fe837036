import { setTimeout as sleep } from 'node:timers/promises';
import type { Keypair } from '@solana/web3.js';
import type { Break, TrafficName } from '../break.ts';
import type { Fault } from '../fault.ts';
import type { Harness } from '../harness.ts';
import { actionsOf, whileSubmittersStand } from '../owner-actions.ts';
import { FINAL_BLOCKS } from './chain.ts';

/** The fault of each kind of traffic whose buyers sign by themselves. */
export const EMPTIED_SOURCES: Partial<Record<TrafficName, string>> = {
  x402: 'source-emptied-x402',
  paywall: 'source-emptied-mpp',
};

/** More than a source that never paid may have under way. */
export const PAYMENTS_AT_ONCE = 6;
const SIGNED_MS = 8000;
/** How long payments beyond the first ones get to be signed as well. */
const ALSO_SIGNED_MS = 500;

/** A buyer whose account never paid, and covers all of its payments. */
type NewBuyer = {
  owner: Keypair;
  /**
   * Signs the payments. What it returns presents them all at once. Null: the chain did not answer,
   * so that they could not be signed.
   */
  sign: () => Promise<(() => Promise<unknown>) | null>;
};

/**
 * The owner of a source moves the money away while payments are in flight: they are included and
 * fail on chain. They are of clients that sign by themselves, so the platform's fee payer has paid
 * for them.
 */
export const emptiedSource = (
  harness: Harness,
  traffic: TrafficName,
  { newBuyer, breaks }: { newBuyer: () => Promise<NewBuyer>; breaks: Omit<Break, 'traffic'>[] },
): Fault => ({
  name: EMPTIED_SOURCES[traffic]!,
  holdMs: [200, 800],
  isAlone: true,
  inject: async () => {
    const buyer = await newBuyer().catch(() => null);
    if (buyer === null) return null;
    const { owner, sign } = buyer;
    const empty = await actionsOf(harness, owner)
      .readyToEmpty()
      .catch(() => null);
    const present = empty && (await sign());
    if (empty === null || present === null) return null;
    const source = harness.chain.tokenAccount(owner.publicKey).toBase58();
    harness.emptied.add(source);
    await harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
    const calls = present();
    const countIntents = async (...statuses: string[]): Promise<number> => {
      const [row] = await harness
        .query<{ n: number }>(
          `select count(*)::int as n from chain_submitter.intents
           where kind = 'incoming' and status = any($2) and request ->> 'source_account' = $1`,
          [source, statuses],
        )
        .catch(() => []);
      return row?.n ?? 0;
    };
    const countSigned = () => countIntents('signed');
    const deadline = Date.now() + SIGNED_MS;
    while ((await countSigned()) === 0 && Date.now() < deadline) await sleep(50);
    await sleep(ALSO_SIGNED_MS);
    const signed = await countSigned();
    const isEmpty = await whileSubmittersStand(harness, async () => {
      const emptied =
        signed > 0 &&
        (await empty().then(
          () => true,
          () => false,
        ));
      await harness.rpc('chain_fault');
      return emptied;
    });
    if (!isEmpty) {
      await calls;
      return null;
    }
    return async () => {
      await calls;
      // What has failed is final before a fork may give the money back.
      await sleep((FINAL_BLOCKS + 8) * harness.slotMs);
      const paid = await countIntents('confirmed', 'finalized');
      // If the owner took long, what was signed has expired.
      if (paid >= signed)
        breaks.push({ invariant: 'the-owner-was-in-time', what: `${traffic}: all of ${signed} were paid` });
    };
  },
});

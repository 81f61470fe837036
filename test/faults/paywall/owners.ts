import { setTimeout as sleep } from 'node:timers/promises';
import type { Break } from '../break.ts';
import { signedInTime } from '../checks/signed-in-time.ts';
import type { Fault } from '../fault.ts';
import { emptiedSource, PAYMENTS_AT_ONCE } from '../faults/emptied-source.ts';
import type { Harness } from '../harness.ts';
import type { Actors } from './actors.ts';
import { createMppClient } from './buyers.ts';
import { present } from './load.ts';
import type { Log, Payment, Purchase } from './log.ts';
import { MOST_PRICE, PUBLIC_URL } from './shop.ts';

/** A replica of the shop is restarted now and then. */
const TRIES = 10;
const AGAIN_MS = 300;

/** The faults that owners of paying accounts make. */
export const paywallOwnerFaults = (
  harness: Harness,
  { actors, log, breaks }: { actors: Actors; log: Log; breaks: Omit<Break, 'traffic'>[] },
): Fault[] => [
  emptiedSource(harness, 'paywall', {
    breaks,
    newBuyer: async () => {
      const { keypair, address } = await actors.newWallet(BigInt(PAYMENTS_AT_ONCE) * MOST_PRICE);
      const { sign, headersOf } = createMppClient(keypair, harness);
      const tryToSign = async (purchase: Purchase): Promise<Payment | null> => {
        const { status, headers } = await actors.shopFetch(`${PUBLIC_URL}${purchase.path}`);
        // The shop offers other protocols when it knows the terms.
        if (status !== 402 || !headers.has('payment-required')) return null;
        const transaction = await signedInTime(() => sign(headers));
        return transaction === null
          ? null
          : log.signed(purchase, transaction, headersOf(headers, transaction));
      };
      const signed = async (): Promise<Payment | null> => {
        const purchase = log.begin('mpp', address);
        for (let tries = 0; tries < TRIES; tries += 1) {
          const payment = await tryToSign(purchase).catch(() => null);
          if (payment !== null) return payment;
          await sleep(AGAIN_MS);
        }
        return null;
      };
      log.emptied.add(address);
      return {
        owner: keypair,
        sign: async () => {
          const payments = await Promise.all(Array.from({ length: PAYMENTS_AT_ONCE }, signed));
          const made = payments.filter((payment) => payment !== null);
          return made.length < PAYMENTS_AT_ONCE
            ? null
            : () => Promise.all(made.map((payment) => present(actors, log, payment)));
        },
      };
    },
  }),
];

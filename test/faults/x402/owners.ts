import type { Break } from '../break.ts';
import type { Fault } from '../fault.ts';
import { emptiedSource, PAYMENTS_AT_ONCE } from '../faults/emptied-source.ts';
import type { Harness } from '../harness.ts';
import { type Actors, MOST_PRICE } from './actors.ts';
import { present, sign } from './load.ts';
import type { Log } from './log.ts';

/** The faults that owners of paying accounts make. */
export const x402OwnerFaults = (
  harness: Harness,
  { actors, log, breaks }: { actors: Actors; log: Log; breaks: Omit<Break, 'traffic'>[] },
): Fault[] => [
  emptiedSource(harness, 'x402', {
    breaks,
    newBuyer: async () => {
      const [vendor] = actors.payers;
      const { keypair, buyer } = await actors.newBuyer(BigInt(PAYMENTS_AT_ONCE) * MOST_PRICE);
      log.emptied.add(buyer.address);
      return {
        owner: keypair,
        sign: async () => {
          const signatures = await Promise.all(
            Array.from({ length: PAYMENTS_AT_ONCE }, () => sign(buyer, vendor!)),
          );
          if (signatures.some((signature) => signature === null)) return null;
          const payments = signatures.map((signature) =>
            log.signed(log.begin(buyer.address, vendor!), signature!),
          );
          return () => Promise.all(payments.map((payment) => present(vendor!, payment)));
        },
      };
    },
  }),
];

import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConsumer, createVendor } from '../../../deploy/local/seed/actors.ts';
import { createApi, patientApi } from '../../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { atOnce } from '../../support/servers/stack.ts';
import type { Access } from '../access.ts';
import { settlementsOfService } from '../checks/final-records.ts';
import { type Buyer, createBuyer } from './buyers.ts';
import { endAll } from './ends.ts';
import { type Case, paidOf } from './invariants.ts';
import { type Lane, startLane } from './lane.ts';
import { begin, createGateLog, KINDS, type Kind, type Point, type Purchase } from './log.ts';

/** Purchases through gates of which a process is killed, in a campaign or in a suite. */

const ROOT = path.resolve(import.meta.dirname, '../../..');
const AGAIN_MS = 500;
/** How long they are repeated. What is open then waits for the end. A lease ends sooner. */
const BATCH_MS = 60_000;

type Place = Pick<Access, 'chain' | 'rpc' | 'query'> & { stack: Stack };
/** What the next purchase of a lane is. Null: there is none. */
export type Next = (wasKilled: boolean) => { kind: Kind; point: Point | null } | null;
type Staffed = { lane: Lane; buyers: Record<Kind, Buyer>; open: Purchase[] };

/** Builds the gate into a folder. Returns its command. */
export const buildGate = async (folder: string): Promise<string[]> => {
  await promisify(execFile)(process.execPath, [path.join(ROOT, 'gate/build.ts'), '--image', folder]);
  return [path.join(folder, 'program.js')];
};

/**
 * Starts gates of one vendor, each with buyers of every kind.
 * @param command of a gate, before its settings file
 * @param batch so many open purchases of a lane are repeated beside one another while it buys
 */
export const startGateRun = async (
  place: Place,
  command: readonly string[],
  { lanes, batch }: { lanes: number; batch: number },
) => {
  const { stack, chain, query } = place;
  // A repeat of a call that shows a key shows none, so the vendor is created at once.
  const plain = createApi(stack.gateway_url);
  const api = patientApi(plain);
  const log = createGateLog();
  const byPath = new Map<string, Purchase>();
  // A payment of another client needs the token account of its payee.
  const { wallet: payout } = await createConsumer(api, stack, { balance: 1n, allowance: 0n });
  const seller = await createVendor(plain, stack, { payout });
  const ports = createPortPicker();
  const purchaseOf = (asked: string) => byPath.get(asked);
  const staffed: Staffed[] = await atOnce(lanes, async () => {
    const lane = await startLane({ stack, seller, command, purchaseOf, ports });
    const buyers = await Promise.all(KINDS.map((kind) => createBuyer(api, place, kind)));
    return { lane, buyers: Object.fromEntries(buyers.map((each) => [each.kind, each])) as never, open: [] };
  });
  const all = staffed.flatMap(({ buyers }) => Object.values(buyers));
  const before = new Map(
    await Promise.all(all.map(async ({ address }) => [address, await chain.balance(address)] as const)),
  );

  /** The same buyer repeats the same payment. What is still open at the end stays in the list. */
  const repeat = async ({ lane, buyers, open }: Staffed, isOver: () => boolean): Promise<void> => {
    const repeated = open.splice(0);
    await Promise.all(
      repeated.map(async (purchase) => {
        while (purchase.outcome === 'open' && !isOver()) {
          await buyers[purchase.kind].attempt(purchase, lane);
          if (purchase.outcome === 'open') await sleep(AGAIN_MS);
        }
        purchase.to = Date.now();
      }),
    );
    open.push(...repeated.filter(({ outcome }) => outcome === 'open'));
  };

  /** Buys one after the other, each time with a kill. */
  const work = async (lane: Staffed, next: Next, isOver: () => boolean): Promise<void> => {
    let wasKilled = false;
    const later: Purchase[] = [];
    for (let wanted = next(false); wanted !== null; wanted = next(wasKilled)) {
      const { kind, point } = wanted;
      const buyer = lane.buyers[kind];
      const purchase = begin(log, { kind, point, buyer: buyer.address, origin: lane.lane.url });
      byPath.set(purchase.path, purchase);
      // The platform may be busy before the payment.
      while (!purchase.isPresented && !isOver()) await buyer.attempt(purchase, lane.lane);
      await lane.lane.disarm();
      purchase.to = Date.now();
      wasKilled = purchase.killedAt !== null;
      if (purchase.outcome === 'open') lane.open.push(purchase);
      if (lane.open.length < batch) continue;
      const deadline = Date.now() + BATCH_MS;
      await repeat(lane, () => isOver() || Date.now() > deadline);
      later.push(...lane.open.splice(0));
    }
    lane.open.push(...later);
  };

  const rowsOf = () => settlementsOfService({ query }, seller.serviceId);

  return {
    log,
    /** Starts the work of every lane. It ends when there is no next purchase. */
    start: (nextOf: (lane: number) => Next, isOver: () => boolean): Promise<unknown> =>
      Promise.all(staffed.map((lane, at) => work(lane, nextOf(at), isOver))),
    /** Every buyer repeats its open purchases, and what was authorized and is left ends. */
    recover: async (deadline: number): Promise<void> => {
      await Promise.all(staffed.map((lane) => repeat(lane, () => Date.now() > deadline)));
      await endAll(query, seller.serviceId, deadline);
    },
    readCase: async (): Promise<Case> => {
      const rows = await rowsOf();
      const ended = log.purchases.map((purchase) => ({
        purchase,
        rows: rows.filter(
          ({ scope, message_hash }) =>
            scope?.resource === purchase.resource || purchase.hashes.includes(message_hash),
        ),
      }));
      const moved = await Promise.all(
        all.map(async ({ address }) => {
          const own = ended.filter(({ purchase }) => purchase.buyer === address);
          const expected = own.flatMap(paidOf).reduce((sum, row) => sum + BigInt(row.quote_amount), 0n);
          const spent = before.get(address)! - (await chain.balance(address));
          return { who: address, expected, spent };
        }),
      );
      return { ended, moved };
    },
    stop: () => Promise.all(staffed.map(({ lane }) => lane.stop())),
  };
};
export type GateRun = Awaited<ReturnType<typeof startGateRun>>;

import { ServiceError } from '../../shared/contract/errors.ts';
import { actors } from './actors.ts';
import { createCaller, Unanswered } from './caller.ts';
import { type Harness, type Process, require } from './harness.ts';
import type { SettlementReplica } from './processes.ts';
import type { SettlementTables } from './settlement-tables.ts';

type Paid = { settlement_id: string; settlement_token: string };
/** A delivery that the vendor has stored with its id before it consumes the units. */
type Delivery = { paid: Paid; requestId: string; units: number; first: string | null };

const REPLICAS = 2;
const TRIES = 6;
const TRANSIENT = ['service_unavailable', 'internal_error'];

/**
 * A vendor that sells prepaid units. Its replicas consume the units of a bundle at the same time,
 * and send ids of each other again. One that crashes leaves an id of which nobody knows the answer.
 */
export const createConsumers = (
  harness: Harness,
  { replicas, settlement }: { replicas: () => readonly SettlementReplica[]; settlement: SettlementTables },
) => {
  const { random } = harness;
  const process: Process = { name: 'consumer', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const { call, isIdle } = createCaller(harness, process, replicas);
  const { account_id, service_id } = actors.vendor;
  const caller = { kind: 'service_key' as const, account_id, service_id, key_id: 'key' };
  const bundles = new Set<string>();
  let working = 0;

  const rowsOf = ({ paid, requestId }: Delivery) =>
    settlement.consume.consumptions.filter(
      (row) => row.settlement_id === paid.settlement_id && row.request_id === requestId,
    );

  /** A refusal is true when it arrives: units are never given back. */
  const judge = (delivery: Delivery, wasConsumed: boolean, { code, message }: ServiceError): void => {
    const { paid, requestId, units, first } = delivery;
    const says = `${requestId} was answered ${code}: ${message}`;
    if (first !== null || wasConsumed) harness.fail('an id that consumed is answered again', says);
    if (code !== 'settlement_exhausted') return;
    const { units_total: total, units_consumed: consumed } = settlement.settlements.get(paid.settlement_id)!;
    if (consumed + BigInt(units) <= BigInt(total!)) harness.fail('used up only if too little is left', says);
    if (rowsOf(delivery).length > 0) harness.fail('used up only for an id that consumed nothing', says);
  };

  /** One call. True: the answer is final. */
  const ask = async (delivery: Delivery): Promise<boolean> => {
    const { paid, requestId, units } = delivery;
    const wasConsumed = rowsOf(delivery).length > 0;
    try {
      const answer = JSON.stringify(
        await call((replica) => replica.consume({ ...paid, units, request_id: requestId }, caller)),
      );
      if (delivery.first !== null && delivery.first !== answer)
        harness.fail('a repeat gets the first answer', `${requestId}: ${answer}, not ${delivery.first}`);
      delivery.first = answer;
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) return false;
      harness.trace('vendor', `${requestId}: ${error.code} (${error.message})`);
      if (error instanceof Unanswered || TRANSIENT.includes(error.code)) return false;
      judge(delivery, wasConsumed, error);
      return true;
    }
  };

  const askUntilAnswered = async (delivery: Delivery): Promise<void> => {
    for (let tries = 0; tries < TRIES && !(await ask(delivery)); tries += 1)
      await harness.sleep(process, random.between(50, 4000));
  };

  /** A replica delivers, crashes now and then, and finishes what another one has begun. */
  const work = async (own: Delivery[], all: Delivery[]): Promise<void> => {
    await harness.sleep(process, random.between(0, 3000));
    for (const delivery of own) {
      all.push(delivery);
      if (random.chance(0.15)) void ask(delivery);
      else await askUntilAnswered(delivery);
      if (random.chance(0.3)) await harness.sleep(process, random.between(0, 5000));
      if (random.chance(0.4)) await askUntilAnswered(random.pick(all));
    }
    for (const delivery of all) await askUntilAnswered(delivery);
    working -= 1;
  };

  return {
    isIdle: () => working === 0 && isIdle(),
    /** Delivers the units of a bundle, and tries to deliver some more. */
    deliver: (paid: Paid, unitsTotal: number): void => {
      if (bundles.has(paid.settlement_id)) return;
      bundles.add(paid.settlement_id);
      const all: Delivery[] = [];
      for (let replica = 0; replica < REPLICAS; replica += 1) {
        const own = Array.from({ length: random.int(1, unitsTotal + 2) }, (_, index): Delivery => {
          const requestId = `${replica}/${index}`;
          return { paid, requestId, units: random.chance(0.7) ? 1 : random.int(1, 4), first: null };
        });
        working += 1;
        harness.inside(process, random.between(0, 500), () => void work(own, all));
      }
    },
  };
};

/** What was consumed is the sum of the ids, each counted once, and never more than the bundle. */
export const checkConsumed = ({ settlements, consume: { consumptions } }: SettlementTables): void => {
  if (consumptions.length === 0) return;
  const sums = new Map<string, bigint>();
  const ids = new Set<string>();
  for (const { settlement_id: id, request_id, units } of consumptions) {
    const key = `${id} ${request_id}`;
    require(!ids.has(key), 'an id consumes once', () => key);
    ids.add(key);
    sums.set(id, (sums.get(id) ?? 0n) + units);
  }
  for (const [id, sum] of sums) {
    const row = settlements.get(id)!;
    const { units_consumed: consumed, units_total, redeemed_at } = row;
    const total = BigInt(units_total!);
    require(consumed === sum, 'consumed is the sum of the ids', () => `${id}: ${consumed} for ${sum}`);
    require(sum <= total, 'never more consumed than the bundle', () => `${id}: ${sum} of ${total}`);
    require(redeemed_at !== null, 'a consumed settlement is redeemed', () => id);
  }
};

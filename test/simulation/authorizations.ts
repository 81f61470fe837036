import { ServiceError } from '../../shared/contract/errors.ts';
import { actors } from './actors.ts';
import { createCaller, Unanswered } from './caller.ts';
import { type Harness, type Process, require } from './harness.ts';
import type { SettlementReplica } from './processes.ts';
import type { SettlementTables } from './settlement-tables.ts';

type Used = Awaited<ReturnType<SettlementReplica['usage']>>;
type Authorized = { settlement_id: string; settlement_token: string };
/** Uses that the vendor has stored with their ids before it reports them. */
type Report = { of: Authorized; usages: { usage_id: string; amount: string }[]; first: Used | null };

/**
 * The same but for the ceiling, which is that of its call: it may have been extended between
 * two calls, whose answers may overtake one another.
 */
const isRepeatOf = (first: Used, { max_amount, left, ...answer }: Used): boolean =>
  answer.used === first.used &&
  answer.settlement_id === first.settlement_id &&
  BigInt(left) === BigInt(max_amount) - BigInt(first.used);

const REPLICAS = 2;
const TRIES = 6;
const TRANSIENT = ['service_unavailable', 'internal_error'];

/**
 * A vendor that charges for use. Its replicas report uses of one authorization at the same time,
 * and send ids of each other again. Some capture, some give up, and some leave the end to the
 * window.
 */
export const createMeteringVendor = (
  harness: Harness,
  {
    replicas,
    onEnding,
  }: {
    replicas: () => readonly SettlementReplica[];
    /** Null: it ends authorizations as soon as they are used, because nobody extends them. */
    onEnding: ((id: string) => void) | null;
  },
) => {
  const { random } = harness;
  const process: Process = { name: 'metering', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const { call, isIdle } = createCaller(harness, process, replicas);
  const { account_id, service_id } = actors.vendor;
  const caller = { kind: 'service_key' as const, account_id, service_id, key_id: 'key' };
  const opened = new Set<string>();
  /** The settlements whose vendor gave up what was used. */
  const givenUp = new Set<string>();
  /** What was answered with 200, by settlement and id. */
  const answered = new Map<string, Set<string>>();
  /** The highest ceiling that an answer has named, by settlement. */
  const named = new Map<string, bigint>();
  let working = 0;

  /** One call. True: the answer is final. */
  const report = async (one: Report): Promise<boolean> => {
    const { of, usages } = one;
    const id = of.settlement_id;
    try {
      const answer = await call((replica) => replica.usage({ ...of, usages }, caller));
      if (one.first !== null && !isRepeatOf(one.first, answer))
        harness.fail(
          'a repeat gets the first answer',
          `${id}: ${JSON.stringify(answer)}, not ${JSON.stringify(one.first)}`,
        );
      one.first = answer;
      const ceiling = BigInt(answer.max_amount);
      if (ceiling > (named.get(id) ?? 0n)) named.set(id, ceiling);
      const ids = answered.get(id) ?? new Set();
      for (const { usage_id } of usages) ids.add(usage_id);
      answered.set(id, ids);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) return false;
      harness.trace('vendor', `use of ${id}: ${error.code} (${error.message})`);
      if (error instanceof Unanswered || TRANSIENT.includes(error.code)) return false;
      if (one.first !== null)
        harness.fail('an id that was used is answered again', `${id}: ${error.message}`);
      return true;
    }
  };
  const pursue = async (one: Report): Promise<void> => {
    for (let tries = 0; tries < TRIES && !(await report(one)); tries += 1)
      await harness.sleep(process, random.between(50, 4000));
  };

  /** Ends it, or leaves that to its window. */
  const end = async ({ settlement_id }: Authorized): Promise<void> => {
    const how = random.next();
    onEnding?.(settlement_id);
    try {
      if (how < 0.5) await call((replica) => replica.capture({ settlement_id }, caller));
      else if (how < 0.7) {
        const discard_usage = random.chance(0.5);
        if (discard_usage) givenUp.add(settlement_id);
        await call((replica) => replica.void({ settlement_id, discard_usage }, caller));
      }
    } catch (error) {
      harness.trace('vendor', `end of ${settlement_id}: ${(error as Error).message}`);
    }
  };

  const work = async (of: Authorized, own: Report[], all: Report[], ends = true): Promise<void> => {
    for (const one of own) {
      all.push(one);
      if (random.chance(0.15)) void report(one);
      else await pursue(one);
      if (random.chance(0.3)) await harness.sleep(process, random.between(0, 10_000));
      if (random.chance(0.4)) await pursue(random.pick(all));
    }
    // A request that was still served while another replica ended it.
    const late = { of, usages: [{ usage_id: `late/${all.length}`, amount: '1000' }], first: null };
    if (random.chance(0.6)) {
      all.push(late);
      void report(late);
    }
    if (onEnding !== null && random.chance(0.4)) await harness.sleep(process, random.between(0, 30_000));
    if (ends) await end(of);
    for (const one of all) await pursue(one);
    working -= 1;
  };

  /** What is used after an extension, some of it beyond the first ceiling. */
  const useMore = (of: Authorized, addedMicro: bigint): void => {
    const own = Array.from({ length: random.int(1, 4) }, (_, index): Report => {
      const usage_id = `${addedMicro}/${opened.size}/${answered.size}/${index}/${harness.now()}`;
      return {
        of,
        usages: [{ usage_id, amount: String(addedMicro / BigInt(random.int(1, 3))) }],
        first: null,
      };
    });
    working += 1;
    harness.inside(process, random.between(0, 500), () => void work(of, own, [], random.chance(0.3)));
  };

  return {
    isIdle: () => working === 0 && isIdle(),
    useMore,
    named,
    givenUp,
    answered,
    open: (of: Authorized, ceilingMicro: bigint): void => {
      if (opened.has(of.settlement_id)) return;
      opened.add(of.settlement_id);
      const all: Report[] = [];
      for (let replica = 0; replica < REPLICAS; replica += 1) {
        const count = random.chance(0.4) ? 0 : random.int(1, 6);
        const own = Array.from({ length: count }, (_, index): Report => {
          const usages = Array.from({ length: random.int(1, 4) }, (_use, part) => ({
            usage_id: `${replica}/${index}/${part}`,
            amount: String(ceilingMicro / BigInt(random.int(3, 40))),
          }));
          return { of, usages, first: null };
        });
        working += 1;
        harness.inside(process, random.between(0, 500), () => void work(of, own, all));
      }
    },
  };
};
type MeteringVendor = ReturnType<typeof createMeteringVendor>;

/** What was used is captured, nothing else, and what was answered with 200 is recorded. */
export const checkAuthorizations = (
  { settlements, using: { uses } }: SettlementTables,
  { answered, named, givenUp }: MeteringVendor,
): void => {
  for (const row of settlements.values()) {
    const { settlement_id: id, ceiling: max, quote_amount: amount, used, status } = row;
    if (max === null) continue;
    require(amount <= max, 'never more captured than authorized', () => `${id}: ${amount} of ${max}`);
    const said = named.get(id) ?? 0n;
    require(said <= max, 'no answer names a higher ceiling', () => `${id}: ${said} of ${max}`);
    if (status === 'redeemed' || status === 'capturing')
      require(amount === used, 'what was used is captured', () => `${id}: ${amount} for ${used}`);
    if (status === 'voided' && !givenUp.has(id))
      require(used === 0n, 'no use is voided', () => `${id}: ${used}`);
  }
  for (const [id, ids] of answered) {
    const recorded = new Set(uses.flatMap((row) => (row.settlement_id === id ? [row.usage_id] : [])));
    for (const usageId of ids)
      require(recorded.has(usageId), 'a use that was answered is recorded', () => `${id}: ${usageId}`);
  }
};

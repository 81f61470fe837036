import type { Break } from '../break.ts';
import type { SettlementRow } from '../checks/final-records.ts';
import {
  type Attack,
  CEILING,
  type Deaths,
  GOODS_PRICE,
  mishapName,
  TAB_PRICE,
  type Try,
} from './attacks.ts';
import { paidOf } from './invariants.ts';
import type { Replicas } from './replicas.ts';

/** The smallest fee: use that does not exceed it is void. */
const FEE = 10_000n;
/** A gate may learn so late that a buyer has left. */
const LEFT_MS = 2000;

/** An attack with its settlement, and the sum of what was reported of it. */
type EndedAttack = { attack: Attack; row: SettlementRow | undefined; used: bigint };
export type AttackCase = {
  ended: readonly EndedAttack[];
  /** Every settlement of the vendor. */
  rows: readonly SettlementRow[];
  deaths: Deaths;
  reportedBy: Replicas['reportedBy'];
  refused: number;
  moved: readonly { who: string; spent: bigint }[];
};
type Judged = EndedAttack & Pick<AttackCase, 'deaths' | 'reportedBy'>;

/** When a try had ended for its gate. */
const endOf = ({ form, to }: Try): number => (to ?? Date.now()) + (form === 'leaves' ? LEFT_MS : 0);

/** Its gate died while it was under way, or before its use was reported. */
const mayBeLost = (one: Try, { attack, deaths, reportedBy }: Judged): boolean =>
  deaths.gates.some(({ replica, at }) => {
    if (replica !== one.replica || at < one.from) return false;
    const reported = reportedBy(replica, attack.settlementId!, at);
    return reported === null || reported < endOf(one);
  });

/** The API died while it made the answer, which the vendor has broken off then. */
const mayBeBroken = (one: Try, { deaths }: Judged): boolean =>
  deaths.upstream.some((at) => at >= one.from && at <= endOf(one) + LEFT_MS);

/** What one call owes at least and at most: a buyer who has left or stalled owes what he got. */
const owedFor = (tries: readonly Try[], judged: Judged): { least: bigint; most: bigint } => {
  const isOwed = tries.some((one) => {
    if (one.status !== 200 || !one.hasBegun) return false;
    return one.isWhole || (['leaves', 'stalls'].includes(one.form) && !mayBeBroken(one, judged));
  });
  const mayBeOwed = tries.some(({ status }) => status === null || status === 200);
  const isLost = tries.some((one) => mayBeLost(one, judged));
  return { least: isOwed && !isLost ? TAB_PRICE : 0n, most: mayBeOwed ? TAB_PRICE : 0n };
};

/** Requests that cost once: with stored answers all of one id, otherwise each. */
const callsOf = ({ ware, tries }: Attack): Try[][] =>
  ware === 'again' ? tries.map((one) => [one]) : [...Map.groupBy(tries, ({ id }) => id).values()];

const sumOf = (list: readonly bigint[]): bigint => list.reduce((sum, each) => sum + each, 0n);
const isTab = ({ ware }: Attack): boolean => ware !== 'goods';
const owedOf = (judged: Judged) => {
  const calls = callsOf(judged.attack).map((tries) => owedFor(tries, judged));
  return { least: sumOf(calls.map(({ least }) => least)), most: sumOf(calls.map(({ most }) => most)) };
};
const wasDisturbed = ({ attack, deaths }: Judged): boolean =>
  [...deaths.gates.map(({ at }) => at), ...deaths.upstream].some(
    (at) => at >= attack.from && at <= attack.to,
  );

/** What must hold of an attack that has paid or authorized something. Null: it does. */
const ofAttack: Record<string, (judged: Judged & { row: SettlementRow }) => string | null> = {
  'nothing-is-switched': ({ attack }) =>
    attack.tries.some(({ isSwitched }) => isSwitched) ? 'an upgrade was accepted' : null,

  'every-tab-ends': ({ row }) =>
    ['pending', 'authorized', 'capturing'].includes(row.status) ? `it is ${row.status}` : null,

  'a-request-is-charged-once': (judged) => {
    const { most } = owedOf(judged);
    return !isTab(judged.attack) || judged.used <= most ? null : `${judged.used} used, ${most} delivered`;
  },

  'used-is-within-the-ceiling': ({ used }) => (used <= CEILING ? null : `${used} used of ${CEILING}`),

  'delivered-is-charged': (judged) => {
    const { least } = owedOf(judged);
    return !isTab(judged.attack) || judged.used >= least ? null : `${judged.used} used, ${least} delivered`;
  },

  'used-is-captured': ({ attack, row, used }) => {
    if (!isTab(attack) || used <= FEE) return null;
    const [paid] = paidOf({ rows: [row] });
    return paid?.quote_amount === String(used) ? null : `it is ${row.status}, and ${used} was used`;
  },

  'void-has-delivered-nothing': (judged) => {
    const { least } = owedOf(judged);
    return judged.row.status === 'voided' && least > FEE ? `${least} was delivered` : null;
  },

  'a-fixed-price-delivers-once': (judged) => {
    const { attack } = judged;
    if (isTab(attack)) return null;
    if (attack.deliveries.size > 1) return `${attack.deliveries.size} deliveries`;
    return attack.runs <= 1 || wasDisturbed(judged) ? null : `${attack.runs} runs`;
  },

  'goods-are-paid': ({ attack, row }) => {
    if (isTab(attack) || !attack.tries.some(({ status, hasBegun }) => status === 200 && hasBegun))
      return null;
    const [paid] = paidOf({ rows: [row] });
    return paid?.status === 'redeemed' && paid.quote_amount === String(GOODS_PRICE)
      ? null
      : `it is ${row.status}`;
  },
};

const shown = ({ form, id, replica, status, reason, isWhole, hasBegun }: Try): string =>
  `${id} ${form} at ${replica}: ${status} ${reason ?? (isWhole ? 'whole' : hasBegun ? 'begun' : 'nothing')}`;

/** Checks every invariant. */
export const judgeAttacks = ({ ended, rows, deaths, reportedBy, moved }: AttackCase) => {
  const breaks: Omit<Break, 'traffic'>[] = ended.flatMap((one) => {
    const { attack, row } = one;
    if (row === undefined) return [];
    return Object.entries(ofAttack).flatMap(([invariant, check]) => {
      const what = check({ ...one, row, deaths, reportedBy });
      if (what === null) return [];
      const { path, mishap, tries, from, to } = attack;
      const named = `${what} (${path}, ${mishapName(mishap)}: ${tries.map(shown).join(', ')})`;
      return [{ invariant, what: named, span: [from, to] as [number, number] }];
    });
  });
  for (const { who, spent } of moved) {
    const own = ended.filter(({ attack }) => attack.buyer === who).map(({ attack }) => attack.resource);
    const paid = paidOf({ rows: rows.filter(({ scope }) => own.includes(scope?.resource ?? '')) });
    const expected = sumOf(paid.map(({ quote_amount }) => BigInt(quote_amount)));
    if (spent !== expected)
      breaks.push({
        invariant: 'balances-equal-the-payments',
        what: `${who} has spent ${spent}, by the records ${expected}`,
      });
  }
  return breaks;
};

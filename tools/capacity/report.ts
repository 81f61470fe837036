import type { Plan } from './levers.ts';
import { type Need, needs, numberText } from './needs.ts';
import { type Ranked, ranking } from './ranking.ts';

const RATE = {
  settles: 'settles/s',
  uses: 'uses/s',
  x402: 'payments/s of x402',
  payers: 'new payers a day',
  vendors: 'new vendors a day',
} as const;

/** What an operator sets, and to what, so that the load stays within the limit. */
export const remedy = ({ limit: { lever, otherwise }, part, needed }: Ranked): string => {
  if (lever === null) return otherwise!;
  if (part <= 1) return lever.name;
  if (needed === null)
    return otherwise === undefined
      ? `${lever.name} does not suffice`
      : `${lever.name} ends before; ${otherwise}`;
  return `${lever.name}=${lever.show(needed)}`;
};

export const reachedText = ({ at, limit }: Ranked): string => `${numberText(at)} ${RATE[limit.unit]}`;

type Report = { limits: Ranked[]; needs: Need[] };
export const reportOf = (plan: Plan, most = 5): Report => ({
  limits: ranking(plan).slice(0, most),
  needs: needs(plan),
});

/** A report as JSON has it: without functions, and `null` for what has no end. */
export const jsonOf = ({ limits, needs: all }: Report): object => ({
  limits: limits.map((ranked) => ({
    limit: ranked.limit.what,
    reached_at: Number.isFinite(ranked.at) ? ranked.at : null,
    unit: RATE[ranked.limit.unit],
    used_ratio: ranked.part,
    set: ranked.limit.lever?.name ?? null,
    to: ranked.needed === null ? null : ranked.limit.lever!.show(ranked.needed),
    otherwise: ranked.limit.otherwise ?? null,
    source: ranked.limit.source,
  })),
  needs: all,
});

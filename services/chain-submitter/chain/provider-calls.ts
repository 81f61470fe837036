import { isoTimeOrNull } from '../../../shared/lib/clock.ts';

/**
 * What this process has called of each provider in the last minutes, for an operator who asks
 * (`npm run ops -- providers`). The metrics have the same calls for as long as they are scraped.
 */

type Outcome = 'none' | 'unavailable' | 'refused';
/** The calls of a minute. */
type Minute = { at: number } & Record<Outcome, number>;
type Provider = {
  minutes: Minute[];
  answeredAt: number | null;
  failedAt: number | null;
  failure: string | null;
};

const MINUTE_MS = 60_000;
/** So many minutes are kept. */
export const MINUTES = 10;

const providers = new Map<number, Provider>();

const minuteOf = ({ minutes }: Provider, now: number): Minute => {
  const at = now - (now % MINUTE_MS);
  const last = minutes.at(-1);
  if (last?.at === at) return last;
  const next = { at, none: 0, unavailable: 0, refused: 0 };
  minutes.push(next);
  if (minutes.length > MINUTES) minutes.shift();
  return next;
};

/**
 * Notes the outcome of a call to a provider, by its number.
 * @param failure names the number and the method, never the URL
 */
export const noteCall = (number: number, outcome: Outcome, failure: string | null): void => {
  const now = Date.now();
  const provider = providers.get(number) ?? { minutes: [], answeredAt: null, failedAt: null, failure: null };
  providers.set(number, provider);
  minuteOf(provider, now)[outcome] += 1;
  if (outcome !== 'unavailable') provider.answeredAt = now;
  if (outcome !== 'none') Object.assign(provider, { failedAt: now, failure });
};

/** The report of a provider that was not called. */
export const NO_CALLS = {
  answered: 0,
  unavailable: 0,
  refused: 0,
  last_answer_at: null,
  last_failure_at: null,
  last_failure: null,
} as const;

/** The calls of the last minutes, by provider. A refusal is an answer. */
export const reportCalls = () => {
  const since = Date.now() - MINUTES * MINUTE_MS;
  return [...providers].map(([number, { minutes, answeredAt, failedAt, failure }]) => {
    const recent = minutes.filter(({ at }) => at > since);
    const sum = (outcome: Outcome) => recent.reduce((all, each) => all + each[outcome], 0);
    return {
      number,
      answered: sum('none'),
      unavailable: sum('unavailable'),
      refused: sum('refused'),
      last_answer_at: isoTimeOrNull(answeredAt),
      last_failure_at: isoTimeOrNull(failedAt),
      last_failure: failure,
    };
  });
};

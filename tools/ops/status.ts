import type { z } from 'zod';
import type { Process } from '../../shared/bus/builds.ts';
import type { Gauges } from '../../shared/bus/gauges.ts';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { contractList } from '../../shared/contract/index.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { LANES } from '../../shared/lib/lane.ts';
import { ageText, spanText } from './age.ts';
import { type Alarms, readAlarms } from './alarms.ts';
import type { Command } from './command.ts';
import type { Operator } from './connect.ts';
import { foldText } from './table.ts';
import { ANSWER_WITHIN_MS, answerOrNull } from './within.ts';

type Signing = z.infer<typeof chainSubmitter.internal.getSigning.output>;
type Costs = z.infer<typeof chainSubmitter.internal.getCosts.output>;

const programs = contractList.map(({ name }) => name);
/** The gateway has no gauges: it is well if it answers. */
const measured = programs.filter((name) => name !== 'gateway');

const DAY_MS = 86_400_000;
/** More days are no better. */
const MOST_DAYS = 9_999;

/** What one screen is made of. */
type Found = {
  environment: string;
  processes: Process[];
  gauges: Gauges[];
  signing: Signing | null;
  /** What the chain took yesterday and today. */
  costs: readonly (Costs | null)[];
  alarms: Alarms;
};

/** Every question has a deadline, and all are asked at once. */
const ask = async (operator: Operator): Promise<Found> => {
  const { environment } = operator;
  const now = Date.now();
  const costsOf = (ms: number) => {
    const period = isoTime(ms).slice(0, 10);
    const input = { period, account_id: null, limit: 1 };
    return answerOrNull(operator.call(chainSubmitter, 'getCosts', input, ANSWER_WITHIN_MS));
  };
  const [processes, gauges, signing, alarms, ...costs] = await Promise.all([
    operator.builds(programs),
    operator.gauges(measured),
    answerOrNull(operator.call(chainSubmitter, 'getSigning', {}, ANSWER_WITHIN_MS)),
    readAlarms(process.env.PROMETHEUS_URL, environment),
    costsOf(now - DAY_MS),
    costsOf(now),
  ]);
  return { environment, processes, gauges, signing, costs, alarms };
};

/** Reads the gauges of all processes. All replicas of a service report the same values. */
const readerOf = (gauges: readonly Gauges[]) => {
  type Value = { program: string; labels: Record<string, string>; value: number };
  const values = (metric: string): Value[] =>
    gauges.flatMap(({ program, values: own }) =>
      own
        .filter((each) => each.metric === metric)
        .map(({ value, labels = {} }) => ({ program, labels, value })),
    );
  /** The highest value by the key; absent: nobody reports it. */
  const highest = (metric: string, key: (value: Value) => string): Map<string, number> => {
    const found = new Map<string, number>();
    for (const each of values(metric)) {
      const at = key(each);
      found.set(at, Math.max(each.value, found.get(at) ?? 0));
    }
    return found;
  };
  return { values, highest, of: (metric: string) => highest(metric, () => '').get('') };
};
type Reader = ReturnType<typeof readerOf>;

const versionsOf = (processes: readonly Process[]): string => {
  const builds = Map.groupBy(processes, ({ version, commit }) => `${version} ${commit}`);
  const named = [...builds].map(
    ([build, those]) => `${build} (${those.length} ${those.length === 1 ? 'process' : 'processes'})`,
  );
  return named.length > 1 ? `${named.length} builds: ${named.join(', ')}` : (named[0] ?? 'unknown');
};

/** What does not answer, and what answers and cannot read its database in time. */
const gapsOf = ({ processes, gauges }: Pick<Found, 'processes' | 'gauges'>) => ({
  missing: programs.filter((name) => !processes.some(({ program }) => program === name)),
  // One that answers by its build alone is of a version without this question, or its database
  // hangs.
  unread: measured.filter(
    (name) =>
      processes.some(({ program }) => program === name) && !gauges.some(({ program }) => program === name),
  ),
  failed: gauges.flatMap(({ program, failed }) => failed.map((collector) => `${program}: ${collector}`)),
});
type Gaps = ReturnType<typeof gapsOf>;

const readinessOf = ({ missing, unread, failed }: Gaps): string => {
  if (missing.length + unread.length + failed.length === 0) return `all ${programs.length} programs answer`;
  return [
    ...(missing.length === 0 ? [] : [`no answer from ${missing.join(', ')}`]),
    ...(unread.length === 0 ? [] : [`no gauges from ${unread.join(', ')}`]),
    ...(failed.length === 0 ? [] : [`not read: ${[...new Set(failed)].join(', ')}`]),
  ].join('; ');
};

const lanesOf = ({ values }: Reader): string => {
  const all = values('quittance_lanes');
  const services = [...new Set(all.map(({ program }) => program))];
  if (services.length === 0) return 'unknown';
  return services
    .map((service) => {
      const own = all.filter(({ program }) => program === service);
      const owned = own.reduce((sum, { value }) => sum + value, 0);
      const owners = own.filter(({ value }) => value > 0).length;
      return `${service} ${owned}/${LANES} by ${owners} of ${own.length}`;
    })
    .join(', ');
};

/** Queues, each with the metrics of its number and of its oldest piece. */
const QUEUES = [
  ['payments', 'quittance_attempts', 'quittance_attempts_oldest_age_seconds'],
  ['work for the chain', 'quittance_intents', 'quittance_intents_oldest_age_seconds'],
  ['unpublished messages', 'quittance_outbox_messages', 'quittance_outbox_oldest_age_seconds'],
  ['quarantine', 'quittance_quarantine_messages', 'quittance_quarantine_oldest_age_seconds'],
  ['mails', 'quittance_mails_queued', 'quittance_mails_oldest_age_seconds'],
  ['webhooks', 'quittance_webhook_due', 'quittance_webhook_oldest_due_age_seconds'],
] as const;

/** An authorization may stay open for a week, and nothing waits for it until it is due. */
const isQueued = ({ labels }: { labels: Record<string, string> }) => labels.state !== 'authorized';

const queuesOf = ({ values }: Reader) =>
  QUEUES.map(([name, counted, aged]) => {
    const own = values(counted).filter(isQueued);
    // Replicas report the same, so each series counts once.
    const series = new Map(
      own.map(({ program, labels, value }) => [`${program} ${JSON.stringify(labels)}`, value]),
    );
    return {
      name,
      known: own.length > 0,
      count: [...series.values()].reduce((sum, value) => sum + value, 0),
      oldest_seconds: Math.max(
        0,
        ...values(aged)
          .filter(isQueued)
          .map(({ value }) => value),
      ),
    };
  });
type Queue = ReturnType<typeof queuesOf>[number];

const queuesText = (queues: readonly Queue[]): string =>
  queues
    .map(({ name, known, count, oldest_seconds }) => {
      if (!known) return `${name} unknown`;
      return count === 0 ? `${name} 0` : `${name} ${count} (${spanText(oldest_seconds)})`;
    })
    .join(', ');

const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`;
const shares = (found: Map<string, number>): string =>
  found.size === 0 ? 'unknown' : [...found].map(([name, value]) => `${name} ${percent(value)}`).join(', ');

/** The lamports of all kinds. */
const sumOf = (costs: Costs | null | undefined): number | null =>
  costs?.platform.reduce((sum, each) => sum + Number(each.fee_lamports) + Number(each.rent_lamports), 0) ??
  null;

/**
 * The SOL of the configured fee payers, and for how long it lasts at the costs of yesterday, or of
 * today if they are higher already.
 */
const solOf = ({ signing, costs }: Pick<Found, 'signing' | 'costs'>) => {
  const balances = signing?.fee_payers.filter(({ number }) => number !== null) ?? [];
  if (balances.length === 0 || balances.some(({ lamports }) => lamports === null)) return null;
  const lamports = balances.reduce((sum, each) => sum + (each.lamports ?? 0), 0);
  const known = costs.map(sumOf).filter((each) => each !== null);
  const perDay = known.length === 0 ? null : Math.max(...known);
  return {
    lamports,
    lamports_per_day: perDay,
    days: perDay === null || perDay <= 0 ? null : Math.floor(lamports / perDay),
  };
};
type Sol = ReturnType<typeof solOf>;

const solText = (sol: Sol): string => {
  if (sol === null) return 'unknown: no provider of the chain, or chain-submitter, answers';
  const balance = `${(sol.lamports / 1e9).toFixed(4)} SOL`;
  if (sol.lamports_per_day === null) return `${balance}, its costs are unknown`;
  if (sol.days === null) return `${balance}, nothing spent since yesterday`;
  return `${balance}, ${sol.days > MOST_DAYS ? `over ${MOST_DAYS}` : sol.days} days at the costs of yesterday or today`;
};

const alarmsText = (alarms: Alarms): string => {
  if (!alarms.known) return `not known: ${alarms.why}`;
  if (alarms.firing.length === 0) return 'none';
  return alarms.firing
    .map(({ name, severity, since }) => `${name} (${severity}, ${ageText(since)})`)
    .join(', ');
};

const lagOf = (reader: Reader): string => {
  const waiting = reader.highest('quittance_events_waiting', ({ program }) => program);
  const behind = [...waiting].filter(([, value]) => value > 0);
  const used = reader.of('quittance_event_stream_used_ratio');
  return [
    behind.length === 0
      ? 'no events wait'
      : behind.map(([service, value]) => `${service} ${value} events`).join(', '),
    ...(used === undefined ? [] : [`stream ${percent(used)} full`]),
  ].join(', ');
};

const agoOf = (seconds: number | undefined, none: string): string =>
  seconds === undefined ? none : `${spanText(seconds)} ago`;

const backupOf = (reader: Reader): string => {
  const drill = reader.of('quittance_restore_drill_ok');
  const drilled = agoOf(reader.of('quittance_restore_drill_age_seconds'), 'never');
  return [
    `copy ${agoOf(reader.of('quittance_backup_age_seconds'), 'none is recorded')}`,
    `log archived ${agoOf(reader.of('quittance_archive_age_seconds'), 'never')}`,
    `drill ${drilled}${drill === 0 ? ', the last one failed' : ''}`,
  ].join(', ');
};

const reconcileOf = (reader: Reader): string => {
  const age = reader.of('quittance_reconcile_age_seconds');
  if (age === undefined) return 'no run is recorded: npm run ops -- reconcile';
  const drift = reader.of('quittance_reconcile_drift') ?? 0;
  return `${spanText(age)} ago, ${drift === 0 ? 'chain and records agree' : `${drift} errors: npm run ops -- reconcile`}`;
};

/** One line each: a title, and what is so. */
const linesOf = (found: Found, gaps: Gaps) => {
  const { processes, gauges, signing, alarms } = found;
  const reader = readerOf(gauges);
  const paused = reader.of('quittance_intake_paused_seconds');
  return [
    ['versions', versionsOf(processes)],
    ['readiness', readinessOf(gaps)],
    [
      'new payments',
      paused === undefined ? 'unknown' : paused > 0 ? `paused for ${spanText(paused)}` : 'accepted',
    ],
    ['signing', signing === null ? 'unknown' : signing.paused ? 'paused' : 'on'],
    ['lanes', lanesOf(reader)],
    ['open, oldest', queuesText(queuesOf(reader))],
    ['lag', lagOf(reader)],
    ['caps used', shares(reader.highest('quittance_cap_used_ratio', ({ labels }) => labels.cap ?? ''))],
    [
      'budgets used',
      shares(reader.highest('quittance_budget_used_ratio', ({ labels }) => labels.budget ?? '')),
    ],
    ['fee payers', solText(solOf(found))],
    ['backup', backupOf(reader)],
    ['reconcile', reconcileOf(reader)],
    ['alarms', alarmsText(alarms)],
  ] as const;
};

/** The widest title and its gap. */
const TITLE_WIDTH = 14;

export const statusCommands: readonly Command[] = [
  {
    name: 'status',
    args: '',
    summary: 'Shows on one screen how the environment is: versions, queues, caps, SOL, backups, alarms',
    details: [
      'The figures are those of the metrics, read by the same statements at this moment. Each question has a deadline, so',
      'the screen comes also while services are down: it names what does not answer, and the exit code is 1.',
      'PROMETHEUS_URL names the Prometheus whose active alarms are shown.',
    ].join('\n'),
    show: async (operator) => {
      const found = await ask(operator);
      const gaps = gapsOf(found);
      const reader = readerOf(found.gauges);
      const isWell = Object.values(gaps).every((list) => list.length === 0);
      return {
        json: {
          ...found,
          ...gaps,
          queues: queuesOf(reader),
          sol: solOf(found),
        },
        text: [
          `Environment ${found.environment}, ${new Date().toISOString()}`,
          ...linesOf(found, gaps).map(([title, text]) => {
            const indent = ' '.repeat(TITLE_WIDTH);
            return `${title.padEnd(TITLE_WIDTH)}${foldText(text, indent).trimStart()}`;
          }),
        ].join('\n'),
        code: isWell ? 0 : 1,
      };
    },
  },
];

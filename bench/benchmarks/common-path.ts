import { setTimeout as sleep } from 'node:timers/promises';
import { quoteOf, settleWith, type Vendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import type { Payer } from '../harness/actors.ts';
import type { Run } from '../harness/run.ts';
import type { BenchStack } from '../harness/stack.ts';
import { summary } from '../harness/statistics.ts';
import { startTracing, type Trace } from '../harness/trace.ts';

const SETTLES = 20;
const PAUSE_MS = 400;
/**
 * What occurs in fewer settles is background work. Its jobs run together once a second, so that the
 * work of a pause says nothing about the work beside a settle.
 */
const LEAST_SHARE = 0.75;

/**
 * The services that move the payment. What other services write meanwhile is lists and mails, for
 * which no caller waits.
 */
const PAYING = ['settlement', 'chain-submitter'];

const FIGURES = {
  'SQL statements, all': ({ kind }: Trace) => kind === 'statement',
  // Other services only read when they answer calls of the path.
  'SQL statements on the path': ({ kind, who, writes }: Trace) =>
    kind === 'statement' && (PAYING.includes(who) || !writes),
  'commits, all': ({ writes }: Trace) => writes,
  'commits on the path': ({ who, writes }: Trace) => writes && PAYING.includes(who),
  'NATS messages sent': ({ kind }: Trace) => kind === 'message',
  'of them acknowledgements': ({ kind, what }: Trace) => kind === 'message' && what.startsWith('$JS.ACK'),
  'of them replies': ({ kind, what }: Trace) => kind === 'message' && what.startsWith('_INBOX'),
  'NATS requests, jobs, events and wakes': ({ kind, what }: Trace) =>
    kind === 'message' && !/^(\$JS|_INBOX)/.test(what),
  'NATS deliveries from streams': ({ kind }: Trace) => kind === 'delivery',
};
type Figure = keyof typeof FIGURES;

// A payer's first settle reads the chain and is evaluated twice, so it is not the common path.
const payOnce = async (bench: BenchStack, payers: readonly Payer[], vendor: Vendor): Promise<void> => {
  for (const payer of payers) {
    const quote = await quoteOf(bench.api, vendor);
    await must(settleWith(bench.api, await payer.token(), quote), 'settle');
  }
};

type Window = { from: number; to: number };

/** What two settles do alike has the same name. */
const nameOf = ({ kind, who, what }: Trace): string => {
  if (kind === 'statement') return `${who}: ${what.slice(0, 60)}`;
  if (kind === 'delivery') return `${what}, delivered`;
  return what.startsWith('$JS.ACK') ? '$JS.ACK' : what;
};

/** Prints the events of the settle with the median duration. */
const showTypical = (
  report: Run['report'],
  windows: readonly Window[],
  within: (window: Window) => readonly Trace[],
): void => {
  const typical = windows.toSorted((a, b) => a.to - a.from - (b.to - b.from))[windows.length >> 1]!;
  report.table(
    'one of these settles',
    ['who', 'after ms', 'what'],
    within(typical).map(({ atMs, kind, who, what, writes }) => [
      kind === 'delivery' ? `${who} →` : who,
      Math.round(atMs - typical.from),
      `${writes ? '* ' : '  '}${what.slice(0, 100)}`,
    ]),
  );
  report.note('* commits a write');
};

/**
 * Counts what single settles need until their 200: SQL statements, commits that write, and NATS
 * messages, acknowledgements included. It also lists the events of one settle. Every payer has paid
 * before.
 */
export const commonPath = async (
  { report }: Run,
  bench: BenchStack,
  vendor: Vendor,
  payers: readonly Payer[],
): Promise<void> => {
  await payOnce(bench, payers, vendor);
  const tracing = await startTracing(bench);
  const windows: Window[] = [];
  for (let index = 0; index < SETTLES; index += 1) {
    report.progress(`common path: settle ${index + 1} of ${SETTLES}`);
    const quote = await quoteOf(bench.api, vendor);
    const token = await payers[index % payers.length]!.token();
    await sleep(PAUSE_MS);
    const from = Date.now();
    await must(settleWith(bench.api, token, quote), 'settle');
    windows.push({ from, to: Date.now() });
    // For the remaining work of the settle.
    await sleep(PAUSE_MS);
  }
  const traces = await tracing.stop();
  const within = ({ from, to }: Window) => traces.filter(({ atMs }) => atMs >= from && atMs <= to);

  const occurs = new Map<string, number>();
  for (const window of windows)
    for (const name of new Set(within(window).map(nameOf))) occurs.set(name, (occurs.get(name) ?? 0) + 1);
  const isOfPath = (trace: Trace) => occurs.get(nameOf(trace))! >= LEAST_SHARE * SETTLES;
  const counted = (wanted: (trace: Trace) => boolean) =>
    windows.map((window) => within(window).filter((trace) => isOfPath(trace) && wanted(trace)).length);
  const row = (name: string, values: readonly number[]) => {
    const { min, median, max } = summary(values);
    return [name, min, median, max];
  };
  report.table(
    `until the 200 of a single settle, ${SETTLES} settles`,
    ['', 'min', 'median', 'max'],
    [
      row(
        'ms',
        windows.map(({ from, to }) => to - from),
      ),
      ...Object.entries(FIGURES).map(([name, wanted]) => row(name, counted(wanted))),
    ],
  );
  report.table(
    'by process and subject',
    ['', 'median'],
    [...occurs.keys()]
      .sort()
      .map((name) => [name, summary(counted((trace) => nameOf(trace) === name)).median] as const)
      .filter(([, value]) => value > 0),
  );
  const median = (figure: Figure) => summary(counted(FIGURES[figure])).median;
  const target = (figure: Figure, atMost: number) =>
    report.target({ what: `${figure}, until the 200`, value: median(figure), atMost });
  target('SQL statements on the path', 10);
  target('commits on the path', 5);
  target('NATS requests, jobs, events and wakes', 8);

  showTypical(report, windows, within);
  report.data('common path', windows.map(within));
};

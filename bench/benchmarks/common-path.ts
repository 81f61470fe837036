import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '../../deploy/local/people/api.ts';
import { quoteOf, settleWith, type Vendor } from '../../deploy/local/people/people.ts';
import type { Payer } from '../frame/people.ts';
import type { Run } from '../frame/run.ts';
import type { BenchStack } from '../frame/stack.ts';
import { summary } from '../frame/statistics.ts';
import { startTracing, type Trace } from '../frame/trace.ts';

const SETTLES = 20;
const PAUSE_MS = 400;

type Counted = { statements: number; commits: number; messages: number };

const count = (traces: readonly Trace[]): Counted => ({
  statements: traces.filter(({ kind }) => kind === 'statement').length,
  commits: traces.filter(({ writes }) => writes).length,
  messages: traces.filter(({ kind }) => kind === 'message').length,
});

/**
 * Counts what lone settles need up to their 200: SQL statements, commits that write, NATS messages (the queue's pulls and
 * acknowledgements among them), and shows one of them moment by moment. What happens anyway, polls and sweeps, is counted
 * in the pauses and taken off.
 */
export const commonPath = async (
  { report }: Run,
  bench: BenchStack,
  vendor: Vendor,
  payers: readonly Payer[],
): Promise<void> => {
  const tracing = await startTracing(bench);
  const windows: { from: number; to: number }[] = [];
  const pauses: { from: number; to: number }[] = [];
  for (let index = 0; index < SETTLES; index += 1) {
    report.progress(`common path: settle ${index + 1} of ${SETTLES}`);
    const quote = await quoteOf(bench.api, vendor);
    const token = await payers[index % payers.length]!.token();
    await sleep(PAUSE_MS);
    const from = Date.now();
    await must(settleWith(bench.api, token, quote), 'settle');
    const to = Date.now();
    windows.push({ from, to });
    // The first half of the pause belongs to what the settle has left to do.
    await sleep(PAUSE_MS);
    pauses.push({ from: to + PAUSE_MS / 2, to: to + PAUSE_MS });
  }
  const traces = await tracing.stop();
  const within = ({ from, to }: { from: number; to: number }) =>
    traces.filter(({ atMs }) => atMs >= from && atMs <= to);

  const resting = count(pauses.flatMap(within));
  const restingMs = pauses.reduce((sum, { from, to }) => sum + to - from, 0);
  const figures = windows.map((window) => {
    const counted = count(within(window));
    const share = (window.to - window.from) / restingMs;
    return {
      ms: window.to - window.from,
      statements: counted.statements - resting.statements * share,
      commits: counted.commits - resting.commits * share,
      messages: counted.messages - resting.messages * share,
    };
  });
  const names = { ms: 'ms', statements: 'SQL statements', commits: 'commits', messages: 'NATS messages' };
  const of = (figure: keyof typeof names) => summary(figures.map((each) => each[figure]));
  report.table(
    `up to the 200 of a lone settle, ${SETTLES} of them`,
    ['', 'min', 'median', 'max'],
    (Object.keys(names) as (keyof typeof names)[]).map((figure) => {
      const { min, median, max } = of(figure);
      return [names[figure], min, median, max];
    }),
  );
  report.target({ what: 'SQL round trips up to the 200', value: of('statements').median, atMost: 10 });
  report.target({ what: 'commits up to the 200', value: of('commits').median, atMost: 5 });
  report.target({ what: 'NATS messages up to the 200', value: of('messages').median, atMost: 8 });

  // The one whose time is the median one.
  const typical = windows.toSorted((a, b) => a.to - a.from - (b.to - b.from))[windows.length >> 1]!;
  report.table(
    'one of them',
    ['who', 'after ms', 'what'],
    within(typical).map(({ atMs, who, what, writes }) => [
      who,
      (atMs - typical.from).toFixed(1),
      `${writes ? '* ' : '  '}${what.slice(0, 100)}`,
    ]),
  );
  report.note('* commits a write');
  report.data('common path', windows.map(within));
};

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/**
 * The measured figures of the product, from the one file that has them. The tables of
 * docs/benchmarks.md and docs/scale.md, the targets of `bench counts`, the gate of the containers
 * and the model of tools/capacity/ read it.
 */
const FILE = path.resolve(import.meta.dirname, 'figures.json');

const figure = z.number().positive();
/** The counts of a payment, by the name that `bench counts` gives them. */
const COUNTS = {
  statements: 'statements',
  rows: 'rows',
  walBytes: 'WAL bytes',
  messages: 'messages',
  rpcCalls: 'RPC calls',
  cpuMs: 'CPU ms',
  perSecond: 'payments a second',
} as const;
type Count = keyof typeof COUNTS;

const Most = z.partialRecord(z.enum(Object.keys(COUNTS) as [Count, ...Count[]]), figure);
const measured = { measured: z.string().regex(/^\d{4}-\d{2}$/), command: z.string().min(1) };

const Figures = z.strictObject({
  /** Until a payment is final, idle work subtracted. */
  payment: z.strictObject({
    ...measured,
    machine: z.string(),
    /** By the scenarios of `bench counts`. */
    scenarios: z.record(
      z.string(),
      z.strictObject({
        statements: figure,
        rows: figure,
        messages: figure,
        rpcCalls: figure,
        cpuMs: figure,
        perSecond: figure,
      }),
    ),
    walBytes: figure,
    cpuMsOf: z.strictObject({
      gateway: figure,
      settlement: figure,
      'chain-submitter': figure,
      postgres: figure,
      nats: figure,
    }),
  }),
  atMost: z.strictObject({
    /** The targets of `bench counts`, by scenario. */
    bench: z.record(z.string(), Most),
    /** The gate of `npm run prove -- containers`. */
    containers: Most,
  }),
  /** Bytes of one settlement, one use and their events. */
  storage: z.strictObject({
    ...measured,
    settlementBytes: figure,
    /** Of indexes whose keys are random, so that each payment writes another page. */
    scatteredIndexBytes: figure,
    webhookEventBytes: figure,
    webhookEventDays: figure,
    sentEventBytes: figure,
    sentEventDays: figure,
    /** In the stream of events. */
    streamBytes: figure,
    useBytes: figure,
    useDays: figure,
    useSumBytes: figure,
  }),
  /** What the chain admits, as it was read, and the work of a row and of a report of uses. */
  chain: z.strictObject({
    read: z.string(),
    blocksPerSecond: figure,
    unitsOfAccount: figure,
    unitsOfBlock: figure,
    unitsOfSettle: figure,
    rowCpuMs: figure,
    rowsOfReport: figure,
    x402CommitsOfVendor: figure,
  }),
});
export type Figures = z.infer<typeof Figures>;

export const readFigures = (): Figures => Figures.parse(JSON.parse(readFileSync(FILE, 'utf8')));

/** The most that is allowed of each count, by the names of `bench counts`. */
export const namedMost = (most: Partial<Record<Count, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(most).map(([count, value]) => [COUNTS[count as Count], value]));

/**
 * Replaces the counts of a scenario in the file (`bench counts --write`).
 * @param counts by the names of `bench counts`
 */
export const writeCounts = (
  scenario: string,
  counts: Readonly<Record<string, number>>,
  month: string,
): void => {
  const figures = readFigures();
  const before = figures.payment.scenarios[scenario];
  // The others are targets of speed and no counts of the model.
  if (before === undefined) return;
  const rounded = (value: number) => Number(value.toPrecision(value < 1 ? 2 : 3));
  for (const name of Object.keys(before) as (keyof typeof before)[])
    before[name] = rounded(counts[COUNTS[name]]!);
  figures.payment.measured = month;
  writeFileSync(FILE, `${JSON.stringify(Figures.parse(figures), null, 2)}\n`);
};

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readFigures } from '../../bench/figures.ts';
import { code, table } from '../pages/map-page.ts';
import type { Plan } from './levers.ts';
import { DEFAULT_LOAD, type Load } from './load.ts';
import { bytesText, needs, numberText } from './needs.ts';
import { ranking } from './ranking.ts';
import { reachedText, remedy } from './report.ts';
import { readSite } from './site.ts';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * A document with each of its generated parts anew. The rest is written by people.
 * @param parts by the name in the comments around each: `<!-- capacity: name -->`, `<!-- end -->`
 * @throws if the document has another set of parts
 */
const withParts = (file: string, parts: Readonly<Record<string, string>>): string => {
  const page = readFileSync(path.join(root, file), 'utf8');
  const left = new Set(Object.keys(parts));
  const written = page.replaceAll(
    /(<!-- capacity: ([a-z0-9 ]+) -->\n)[\s\S]*?(\n<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      if (!left.delete(name)) throw new Error(`${file}: nothing generates the part "${name}"`);
      return `${begin}\n${parts[name]}\n${end}`;
    },
  );
  if (left.size > 0) throw new Error(`${file} has no part ${[...left].join(', ')}`);
  return written;
};

/** Names of settings, with their values, as code. */
const marked = (text: string): string =>
  text.replaceAll(/\b[A-Z0-9]+(?:_[A-Z0-9]+)+(?:=\d+)?|ops limits set/g, (name) => code(name));

/** One vendor whose limits an operator has raised so far, with as many payers as that needs. */
const ONE_VENDOR: Load = { ...DEFAULT_LOAD, vendorFactor: 1000, payers: 100_000 };

const limitRows = (plan: Plan, which: (unit: string) => boolean): string[][] =>
  ranking(plan)
    .filter(({ limit, at }) => which(limit.unit) && Number.isFinite(at))
    .toSorted((a, b) => a.at - b.at)
    .map((ranked) => [
      ranked.limit.what,
      `${reachedText(ranked)} [${ranked.limit.source}]`,
      marked(
        [ranked.limit.lever?.name, ranked.limit.otherwise].filter((each) => each !== undefined).join('; '),
      ),
    ]);

const firstRows = (plan: Plan): string[][] =>
  ranking(plan)
    .slice(0, 5)
    .map((ranked) => [
      ranked.limit.what,
      `${reachedText(ranked)} [${ranked.limit.source}]`,
      `${numberText(100 * ranked.part)} %`,
      marked(remedy(ranked)),
    ]);
const FIRST = ['Limit', 'Reached at', 'Used', 'What moves it'];

/** docs/scale.md with the tables of the model. */
export const scalePage = async (): Promise<string> => {
  const site = await readSite();
  const { payment, storage } = site.figures;
  const settle = payment.scenarios.settle!;
  const of = (load: Partial<Load>): Plan => ({ site, load: { ...ONE_VENDOR, ...load } });
  const loads = [
    of({ settles: 50 }),
    of({ settles: 1000, uses: 20_000 }),
    of({ settles: 10_000 }),
    of({ uses: 100_000 }),
  ];
  const columns = loads.map(needs);
  return withParts('docs/scale.md', {
    'a settle': table(
      [
        'Rows written',
        'WAL',
        'NATS messages',
        'RPC calls, one provider',
        'SQL statements',
        'CPU of all processes',
      ],
      [
        [
          String(settle.rows),
          bytesText(payment.walBytes),
          String(settle.messages),
          String(settle.rpcCalls),
          String(settle.statements),
          `${settle.cpuMs} ms`,
        ],
      ],
    ),
    'a use': table(
      ['', 'Bytes'],
      [
        ['a settle, for good', numberText(storage.settlementBytes)],
        [
          `its webhook events, ${storage.webhookEventDays} days, by their WAL`,
          numberText(storage.webhookEventBytes),
        ],
        [
          `its events at their publishers, ${storage.sentEventDays} days, by their WAL`,
          numberText(storage.sentEventBytes),
        ],
        [`a report of uses, until ${storage.useDays} days after the end`, numberText(storage.useBytes)],
        ['a second with reports, for good', numberText(storage.useSumBytes)],
      ],
    ),
    fifty: table(FIRST, firstRows(of({ settles: 50, vendorFactor: 100 }))),
    'a thousand': table(FIRST, firstRows(of({ settles: 1000, uses: 20_000 }))),
    settles: table(
      ['What', 'At', 'What moves it'],
      limitRows(of({ vendorFactor: 1, rpcPlan: 1000 }), (unit) => unit === 'settles'),
    ),
    others: table(
      ['What', 'At', 'What moves it'],
      limitRows(of({ vendorFactor: 1 }), (unit) => unit !== 'settles'),
    ),
    needs: table(
      ['', '50 settles/s', '1,000 settles/s and 20,000 uses/s', '10,000 settles/s', '100,000 uses/s'],
      columns[0]!.map(({ what }, row) => [what, ...columns.map((column) => column[row]!.value)]),
    ),
  });
};

const COUNTED: Record<string, { title: string; limits: string }> = {
  settle: { title: 'settle, one replica, 64 connections', limits: 'settle' },
  'settle, 128 payers': { title: 'the same with 128 payers', limits: 'settle, 128 payers' },
  'settle, 4 replicas': { title: 'four replicas, 64 connections', limits: '' },
  'settle, 4 replicas, 256 connections': { title: 'four replicas, 256 connections', limits: '' },
  x402: { title: 'x402, one replica, 64 connections', limits: 'x402' },
};

/** docs/benchmarks.md with the counts of bench/figures.json. */
export const benchmarksPage = (): string => {
  const { payment, atMost } = readFigures();
  const rows = Object.entries(payment.scenarios).map(([name, counts]) => {
    const { title, limits } = COUNTED[name]!;
    const most = atMost.bench[limits] ?? {};
    const shown = (count: 'statements' | 'rows' | 'messages' | 'rpcCalls') =>
      most[count] === undefined ? String(counts[count]) : `${counts[count]} (${most[count]})`;
    return [
      title,
      shown('statements'),
      shown('rows'),
      shown('messages'),
      shown('rpcCalls'),
      `${counts.cpuMs} ms`,
      String(counts.perSecond),
    ];
  });
  return withParts('docs/benchmarks.md', {
    counts: table(['', 'Statements', 'Rows', 'Messages', 'RPC calls', 'CPU', 'A second'], rows),
  });
};

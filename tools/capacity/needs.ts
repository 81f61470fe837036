import { askedReplicas } from '../k8s/load-scaling.ts';
import type { Plan } from './levers.ts';
import { feeOf, rpcCalls, storedBytes } from './limits.ts';
import { captures, type Load, reports, settled } from './load.ts';

/** What a load takes a day or a second, whether it is within the limits or not. */
export type Need = { what: string; value: string; source: string };

const DAY = 86_400;
const SOL = 1e9;
/** Of a process that works, as the lanes have it. */
const BUSY = 0.5;

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
/** Bytes in units of a thousand. */
export const bytesText = (bytes: number): string => {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${numberText(bytes / 1000 ** step)} ${UNITS[step]}`;
};

/** A number with three digits, and all of those before the point. */
export const numberText = (value: number): string => {
  if (!Number.isFinite(value)) return '∞';
  if (value >= 1e15) return value.toExponential(2);
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return Number(value.toFixed(Math.min(digits, 8))).toLocaleString('en-US', { maximumFractionDigits: 8 });
};

const coresOf = ({ site, load }: Plan): Record<string, number> => {
  const { payment, chain } = site.figures;
  const signed = settled(load) + load.x402;
  const own = Object.entries(payment.cpuMsOf).map(
    ([program, ms]) => [program, (signed * ms) / 1000] as const,
  );
  const cores = Object.fromEntries(own);
  cores.postgres! += (reports(load) * chain.rowCpuMs * chain.rowsOfReport) / 1000;
  return cores;
};

/** Replicas of a service with lanes, as its autoscaler counts them. */
const replicasOf = ({ site }: Plan, cores: Readonly<Record<string, number>>, service: string): number => {
  const { min, max } = site.manifests.replicas[service]!;
  return Math.min(max, Math.max(min, askedReplicas(cores[service]!)));
};

const memoryOf = (plan: Plan, cores: Readonly<Record<string, number>>): number =>
  Object.entries(plan.site.manifests.replicas).reduce((sum, [name, { min, bytes }]) => {
    const isLaned = name === 'settlement' || name === 'chain-submitter';
    const replicas = isLaned
      ? replicasOf(plan, cores, name)
      : Math.max(min, Math.ceil((cores[name] ?? 0) / BUSY));
    return sum + replicas * bytes;
  }, 0);

const feesOf = (plan: Plan, load: Load): number =>
  load.settles * feeOf(plan, load.price) + captures(load) * feeOf(plan, load.usePrice * load.usesPerCapture);

export const needs = (plan: Plan): Need[] => {
  const { site, load } = plan;
  const { storage } = site.figures;
  const signed = settled(load) + load.x402;
  const cores = coresOf(plan);
  const all = Object.values(cores).reduce((sum, each) => sum + each, 0);
  const lamports = 10_000 + site.priorityLamports;
  const solPrice = site.settings.SOL_PRICE_MICRO! / 1e6;
  const networkCost = (lamports / SOL) * solPrice;
  const streamBytes = signed * storage.streamBytes;
  const dayBytes = storedBytes({ site, load: { ...load, days: 1 } });
  const perDay = (value: string) => `${value} a day`;
  const rows: [string, string, string][] = [
    [
      'transactions that are signed',
      `${numberText(signed)} a second, ${perDay(numberText(signed * DAY))}`,
      'C',
    ],
    [
      'cores',
      `${numberText(all)}: ${Object.entries(cores)
        .map(([name, each]) => `${name} ${numberText(each)}`)
        .join(', ')}`,
      'C',
    ],
    [
      'replicas of settlement, chain-submitter',
      `${replicasOf(plan, cores, 'settlement')}, ${replicasOf(plan, cores, 'chain-submitter')}`,
      'C',
    ],
    ['memory of the services', bytesText(memoryOf(plan, cores)), 'C'],
    [
      'Postgres: rows',
      `${numberText(signed * site.figures.payment.scenarios.settle!.rows + reports(load) * site.figures.chain.rowsOfReport)} a second`,
      'C',
    ],
    ['Postgres: WAL', `${bytesText(signed * site.figures.payment.walBytes)} a second`, 'C'],
    [
      'Postgres: disk',
      `${bytesText(dayBytes)} on the first day; ${bytesText(site.manifests.postgresDisk)} are full after ${numberText(site.manifests.postgresDisk / dayBytes)} days`,
      'C',
    ],
    [
      'uses: rows of reports',
      `${numberText(reports(load))} a second; ${bytesText(reports(load) * storage.useSumBytes * DAY)} a day stay after ${storage.useDays} days`,
      'C',
    ],
    [
      'NATS: events',
      `${perDay(bytesText(streamBytes * DAY))}; EVENTS holds ${numberText(site.manifests.eventsBytes / streamBytes / 3600)} hours, publishers ${storage.sentEventDays} days`,
      'C',
    ],
    ['RPC calls', `${numberText(rpcCalls(plan))} a second at ${load.providers} providers`, 'C'],
    ['SOL for signatures', perDay(numberText((signed * lamports * DAY) / SOL)), 'C'],
    ['fees', perDay(`${numberText(feesOf(plan, load) * DAY)} USDC`), 'C'],
    [
      'cost of a payment on the chain',
      `${numberText(networkCost)} USDC at ${numberText(solPrice)} USDC for a SOL; its fee is ${numberText(feeOf(plan, load.price))} USDC`,
      'C',
    ],
  ];
  return rows.map(([what, value, source]) => ({ what, value, source }));
};

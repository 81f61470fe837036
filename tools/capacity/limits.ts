import { BUSY } from '../../shared/lanes/model.ts';
import { LANES } from '../../shared/lib/lane.ts';
import {
  factor,
  type Lever,
  type Limit,
  manifest,
  type Plan,
  replicas,
  rpcPlan,
  SOL,
  setting,
  type Unit,
  USDC,
} from './levers.ts';
import { captured, captures, type Load, microPerSecond, reports, settled } from './load.ts';
import type { RequestName, Site } from './site.ts';

/**
 * What bounds an installation, each limit as data. `npm run prove -- capacity` prints them, and
 * docs/scale.md is written from them.
 */

const DAY = 86_400;
const HOUR = 3600;
/** docs/economics.md: two signatures, and those of one refund that each payment reserves. */
const SIGNATURES = 10_000;
const REFUND = 10_000;
const TOKEN_ACCOUNT = 2_039_280;
/** The usual priority fee of a payment of x402 is a lamport. */
const USUAL_PRIORITY = 1;
/** An account, a vendor and a payer have this part of an environment's budget or cap. */
const SHARE = 1 / 10;
/** New settles are refused when less than a fiftieth of the day's lamports is left. */
const HEADROOM = 49 / 50;
/** Of a processor, so that a busy minute finds room. */
const FULL = 0.6;
/** Of Postgres' memory, what is left for pages of tables and indexes. */
const PAGES = 0.75;
/** CPU of settlement for a report of uses: no more than for a redeem. */
const REPORT_MS = 0.8;
/** How long a transaction of the chain waits for its finality, at most. */
const FINALITY_SECONDS = 20;
/** USDC of the fee of a payment with this price. */
export const feeOf = ({ site }: Plan, price: number): number =>
  Math.max((price * site.settings.FEE_BPS!) / 10_000, site.settings.FEE_MIN_MICRO! / USDC);

/** Lamports that a settle reserves of the day. */
const settleLamports = ({ site }: Plan): number => SIGNATURES + site.priorityLamports + REFUND;
const incomingLamports = SIGNATURES + USUAL_PRIORITY + REFUND;

/** A limit by a cap or budget that is a setting. */
const bySetting = (
  limit: Pick<Limit, 'what' | 'unit'> & {
    name: string;
    step: number;
    reads?: readonly string[];
    otherwise?: string;
  },
  demand: (plan: Plan) => number,
  share = 1,
): Limit => {
  const { name, step, reads = [], ...shown } = limit;
  const part = (plan: Plan) => demand(plan) / (plan.site.settings[name]! * share);
  return { ...shown, source: 'C', reads: [name, ...reads], lever: setting(name, step), part };
};

const moved = ({ load }: Plan): number => microPerSecond(load) * HOUR;
const authorized = ({ load }: Plan): number => captures(load) * captured(load) * 1e6 * HOUR;
const incoming = ({ load }: Plan): number => load.x402 * load.price * 1e6 * HOUR;

const CAP = { name: 'ENVIRONMENT_HOURLY_CAP_MICRO', step: USDC };
const WALLET = { name: 'WALLET_HOURLY_CAP_MICRO', step: USDC, reads: ['HOURLY_CAPS_OF_WALLETS'] };
const INCOMING_CAP = { name: 'INCOMING_HOURLY_CAP_MICRO', step: USDC };
const caps: readonly Limit[] = [
  bySetting({ what: 'hourly cap of all payments', unit: 'settles', ...CAP }, moved),
  bySetting(
    { what: 'hourly cap of a payer', unit: 'settles', ...CAP },
    (plan) => moved(plan) / plan.load.payers,
    SHARE,
  ),
  bySetting(
    { what: 'hourly cap of a wallet', unit: 'settles', ...WALLET },
    (plan) => moved(plan) / plan.load.payers,
  ),
  bySetting({ what: 'hourly cap of all that is authorized', unit: 'uses', ...CAP }, authorized),
  bySetting(
    { what: 'open authorizations of a vendor', unit: 'uses', name: 'TAB_MAX_VENDOR_MICRO', step: USDC },
    ({ load }) => (reports(load) * captured(load) * 1e6) / load.vendors,
  ),
  bySetting(
    {
      what: 'open authorizations of a payer with a vendor',
      unit: 'uses',
      name: 'TAB_MAX_VENDOR_MICRO',
      step: USDC,
    },
    ({ load }) => (reports(load) * captured(load) * 1e6) / load.vendors / load.payers,
    SHARE,
  ),
  bySetting({ what: 'hourly cap of x402 and MPP', unit: 'x402', ...INCOMING_CAP }, incoming),
  bySetting(
    { what: 'hourly cap of a vendor for x402 and MPP', unit: 'x402', ...INCOMING_CAP },
    (plan) => incoming(plan) / plan.load.vendors,
    SHARE,
  ),
  bySetting(
    { what: 'hourly cap of a source of x402 and MPP', unit: 'x402', ...WALLET },
    (plan) => incoming(plan) / plan.load.payers,
  ),
];

const SETTLE_FEES = { name: 'SETTLE_FEES_LAMPORTS_PER_DAY', step: SOL, reads: ['COMPUTE_BUDGET'] };
const INCOMING_FEES = { name: 'INCOMING_FEES_LAMPORTS_PER_DAY', step: SOL };
const spent = (plan: Plan): number => (settled(plan.load) * DAY * settleLamports(plan)) / HEADROOM;
const spentIncoming = ({ load }: Plan): number => load.x402 * DAY * incomingLamports;
/**
 * Lamports of a day that count in the parts of vendors: what is not final, and what the fee of a
 * settle is not worth (ADR 96).
 */
const unearned = (plan: Plan): number => {
  const { site, load } = plan;
  const worth = (price: number) => (feeOf(plan, price) * SOL * USDC) / site.settings.SOL_PRICE_MICRO!;
  const counted = (price: number) => Math.max(0, settleLamports(plan) - worth(price));
  return (
    DAY * (load.settles * counted(load.price) + captures(load) * counted(captured(load))) +
    settled(load) * FINALITY_SECONDS * settleLamports(plan)
  );
};
const lamports: readonly Limit[] = [
  bySetting({ what: 'lamports of a day for settles', unit: 'settles', ...SETTLE_FEES }, spent),
  bySetting(
    {
      what: 'lamports of a day for settles of one vendor that are not earned',
      unit: 'settles',
      ...SETTLE_FEES,
      reads: ['COMPUTE_BUDGET', 'FEE_BPS', 'FEE_MIN_MICRO', 'SOL_PRICE_MICRO'],
      otherwise: 'more vendors',
    },
    (plan) => unearned(plan) / plan.load.vendors / HEADROOM,
    SHARE,
  ),
  bySetting(
    { what: 'lamports of a day for settles, of one payer', unit: 'settles', ...SETTLE_FEES },
    (plan) => spent(plan) / plan.load.payers,
    SHARE,
  ),
  bySetting({ what: 'lamports of a day for x402 and MPP', unit: 'x402', ...INCOMING_FEES }, spentIncoming),
  bySetting(
    { what: 'lamports of a day for x402 and MPP, of one vendor', unit: 'x402', ...INCOMING_FEES },
    (plan) => spentIncoming(plan) / plan.load.vendors,
    SHARE,
  ),
  bySetting(
    { what: 'approvals of new payers', unit: 'payers', name: 'USER_FEES_LAMPORTS_PER_DAY', step: SOL },
    ({ load }) => load.newPayersPerDay * SIGNATURES,
  ),
  bySetting(
    { what: 'token accounts of new payers', unit: 'payers', name: 'USER_RENT_LAMPORTS_PER_DAY', step: SOL },
    ({ load }) => load.newPayersPerDay * TOKEN_ACCOUNT,
  ),
  bySetting(
    {
      what: 'token accounts of new vendors',
      unit: 'vendors',
      name: 'SETTLE_RENT_LAMPORTS_PER_DAY',
      step: SOL,
    },
    ({ load }) => load.newVendorsPerDay * TOKEN_ACCOUNT,
  ),
];

/** The request limits of an account, which an operator multiplies (docs/spec/decisions.md). */
const byRequests = (
  what: string,
  unit: Unit,
  name: RequestName,
  calls: (load: Load) => number,
  whose: 'vendor' | 'payer' = 'vendor',
): Limit => ({
  what,
  unit,
  source: 'R',
  reads: ['LIMITS_FILE'],
  lever: factor(whose),
  otherwise: `LIMITS_FILE, more ${whose}s`,
  part: ({ site, load }) => calls(load) / load[`${whose}s`] / (site.requests[name] * load[`${whose}Factor`]),
});
const requests: readonly Limit[] = [
  byRequests('quotes of a vendor', 'settles', 'quote.create', settled),
  byRequests('redeems of a vendor', 'settles', 'settlement.redeem', ({ settles }) => settles),
  byRequests('settles of a payer', 'settles', 'settlement.settle', settled, 'payer'),
  byRequests('reports of uses of a vendor', 'uses', 'settlement.usage', reports),
  byRequests('captures of a vendor', 'uses', 'settlement.capture', captures),
];

const cpuOf = ({ site }: Plan, program: keyof Site['figures']['payment']['cpuMsOf']): number =>
  site.figures.payment.cpuMsOf[program];
/** An authorization costs settlement about what a settle costs it, and so does its capture. */
const accepted = (load: Load): number => load.settles + 2 * captures(load) + load.x402;
const signed = (load: Load): number => settled(load) + load.x402;
const postgresMs = ({ site, load }: Plan): number => {
  const { payment, chain } = site.figures;
  return (
    chain.rowCpuMs * (signed(load) * payment.scenarios.settle!.rows + reports(load) * chain.rowsOfReport)
  );
};

/** Bytes that a load leaves in Postgres after so many days. */
export const storedBytes = ({ site, load }: Plan): number => {
  const { storage } = site.figures;
  const kept = (bytes: number, days: number) => bytes * Math.min(load.days, days);
  const ofSettle =
    storage.settlementBytes * load.days +
    kept(storage.webhookEventBytes, storage.webhookEventDays) +
    kept(storage.sentEventBytes, storage.sentEventDays);
  const ofReport =
    kept(storage.useBytes, storage.useDays) + storage.useSumBytes * Math.max(0, load.days - storage.useDays);
  return DAY * (signed(load) * ofSettle + reports(load) * ofReport);
};

const byCores = (
  what: string,
  lever: Lever,
  part: Limit['part'],
  more: Pick<Limit, 'otherwise'> = {},
): Limit => ({ what, unit: 'settles', source: 'C', reads: [], lever, ...more, part });
/** Lanes use one process less than there are: it stands by. */
const owners = ({ site }: Plan, workload: string): number =>
  Math.min(LANES, site.manifests.replicas[workload]!.max - 1);
const machines: readonly Limit[] = [
  byCores(
    'processes of chain-submitter',
    replicas('chain-submitter', LANES + 1),
    (plan) =>
      (signed(plan.load) * cpuOf(plan, 'chain-submitter')) / (1000 * BUSY * owners(plan, 'chain-submitter')),
    { otherwise: 'another installation' },
  ),
  byCores(
    'processes of settlement',
    replicas('settlement', LANES + 1),
    (plan) =>
      (accepted(plan.load) * cpuOf(plan, 'settlement') + reports(plan.load) * REPORT_MS) /
      (1000 * BUSY * owners(plan, 'settlement')),
    { otherwise: 'another installation' },
  ),
  byCores('processes of the gateway', replicas('gateway'), (plan) => {
    // A quote, a settle and a redeem; or a quote, an authorization, a capture, and the reports.
    const calls = 3 * settled(plan.load) + 2 * plan.load.x402 + reports(plan.load);
    return (calls * cpuOf(plan, 'gateway')) / (1000 * FULL * plan.site.manifests.replicas.gateway!.max);
  }),
  byCores(
    'cores of Postgres',
    manifest('postgresCores', 'Postgres, cores', 1, ''),
    (plan) => postgresMs(plan) / (1000 * FULL * plan.site.manifests.postgresCores),
    { otherwise: 'a Postgres per service' },
  ),
  byCores(
    'memory of Postgres for indexes with random keys',
    manifest('postgresBytes', 'Postgres, memory', 2 ** 30, 'Gi', 2 ** 30),
    ({ site, load }) =>
      (signed(load) * DAY * load.days * site.figures.storage.scatteredIndexBytes) /
      (PAGES * site.manifests.postgresBytes),
    { otherwise: 'a Postgres per service' },
  ),
  byCores(
    'disk of Postgres',
    manifest('postgresDisk', 'Postgres, storage', 2 ** 30, 'Gi', 2 ** 30),
    (plan) => storedBytes(plan) / plan.site.manifests.postgresDisk,
    { otherwise: 'retention, partitions' },
  ),
  byCores(
    'cores of NATS',
    manifest('natsCores', 'NATS, cores', 1, ''),
    (plan) => (signed(plan.load) * cpuOf(plan, 'nats')) / (1000 * FULL * plan.site.manifests.natsCores),
  ),
];

const units = (plan: Plan): number => signed(plan.load) * plan.site.figures.chain.unitsOfSettle;
const OFF_CHAIN = 'off the chain: tabs (ADR 79), prepaid units';
const chain: readonly Limit[] = [
  {
    what: 'a fee payer, one account of the chain',
    unit: 'settles',
    source: 'R',
    reads: ['FEE_PAYERS_IN_USE'],
    lever: setting('FEE_PAYERS_IN_USE', 1, LANES),
    part: (plan) => {
      const { blocksPerSecond, unitsOfAccount } = plan.site.figures.chain;
      return units(plan) / (blocksPerSecond * unitsOfAccount * plan.site.settings.FEE_PAYERS_IN_USE!);
    },
  },
  {
    what: 'the fee account, one account of the chain',
    unit: 'settles',
    source: 'R',
    reads: [],
    lever: null,
    otherwise: OFF_CHAIN,
    part: (plan) => {
      const { blocksPerSecond, unitsOfAccount, unitsOfSettle } = plan.site.figures.chain;
      return (settled(plan.load) * unitsOfSettle) / (blocksPerSecond * unitsOfAccount);
    },
  },
  {
    what: 'the whole chain',
    unit: 'settles',
    source: 'R',
    reads: [],
    lever: null,
    otherwise: OFF_CHAIN,
    part: (plan) => {
      const { blocksPerSecond, unitsOfBlock } = plan.site.figures.chain;
      return units(plan) / (blocksPerSecond * unitsOfBlock);
    },
  },
  {
    what: 'row of accrued fees of one vendor',
    unit: 'x402',
    source: 'M',
    reads: [],
    lever: null,
    otherwise: 'more vendors',
    part: ({ site, load }) => load.x402 / load.vendors / site.figures.chain.x402CommitsOfVendor,
  },
  {
    what: 'the plans of the RPC providers',
    unit: 'settles',
    source: 'C',
    reads: [],
    lever: rpcPlan,
    otherwise: 'own nodes',
    part: (plan) => (plan.load.rpcPlan === null ? 0 : rpcCalls(plan) / plan.load.rpcPlan),
  },
];

/** RPC calls a second at all providers: each further one is asked once about a payment. */
export const rpcCalls = ({ site, load }: Plan): number =>
  signed(load) * (site.figures.payment.scenarios.settle!.rpcCalls + load.providers - 1);

export const LIMITS: readonly Limit[] = [...caps, ...lamports, ...requests, ...machines, ...chain];

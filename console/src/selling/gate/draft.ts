import './no-eval.ts';
import { matchFault } from '../../../../gate/src/ground/routes.ts';
import { GateFile } from '../../../../gate/src/settings/config.ts';
import { routesFault } from '../../../../gate/src/settings/routes-fault.ts';
import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';
import { NOT_AN_AMOUNT, typedUsdc } from '../../lib/money.ts';
import { belowFee, type Fee } from '../sales/price-fees.ts';

/**
 * What a vendor types about a gate, and what it becomes: the settings of gate.yaml as texts. They
 * are checked by the schema that the gate reads its file with.
 */

export type Kind = 'fixed' | 'prepaid' | 'metered' | 'free';
/** What the cost of a call is read from. */
export type CostBy = 'same' | 'units' | 'price';
export type RouteDraft = {
  /** Of this page only. */
  id: number;
  methods: string;
  path: string;
  kind: Kind;
  price: string;
  units: string;
  max: string;
  costBy: CostBy;
  header: string;
  unitPrice: string;
  isTab: boolean;
  perCall: string;
};

/** What stands before the API: the gate, or a proxy that asks it. */
export type Before = 'gate' | 'nginx' | 'caddy' | 'haproxy' | 'apache';
export type GateDraft = {
  before: Before;
  upstream: string;
  publicUrl: string;
  listen: string;
  isRefusing: boolean;
  dialects: ('x402' | 'mpp')[];
  routes: RouteDraft[];
};

const DEFAULT_LISTEN = '127.0.0.1:8402';

/** A gate on this machine, before an API on it. `/report` has the price of the service. */
export const newDraft = (price: string): GateDraft => ({
  before: 'gate',
  upstream: 'http://127.0.0.1:9000',
  publicUrl: '',
  listen: DEFAULT_LISTEN,
  isRefusing: false,
  dialects: [],
  routes: [newRoute(0, price)],
});

/** A new route, with the price of the service. */
export const newRoute = (id: number, price: string): RouteDraft => ({
  id,
  methods: 'GET',
  path: '/report',
  kind: 'fixed',
  price,
  units: '100',
  max: '1',
  costBy: 'units',
  header: 'X-Tokens',
  unitPrice: '0.00001',
  isTab: true,
  perCall: '0.05',
});

type RouteTexts = Record<string, string | Record<string, string>> & { match: string };
/** The settings of gate.yaml, in its order. */
export type FileTexts = {
  mode?: 'authorize';
  upstream?: string;
  listen?: string;
  routes: RouteTexts[];
  unmatched?: 'refuse';
  dialects?: string[];
};

/** A typed amount with its unit. What is no amount stays as it is, and the schema refuses it. */
const amount = (typed: string): string => {
  const micro = typedUsdc(typed);
  return micro === null ? typed : `$${plainUsdc(micro)}`;
};

const metered = ({ max, costBy, price, header, unitPrice, isTab, perCall }: RouteDraft) => ({
  max: amount(max),
  ...(costBy === 'same' && { price: amount(price) }),
  ...(costBy === 'units' && { unit_price: amount(unitPrice), units_header: header.trim() }),
  ...(costBy === 'price' && { price_header: header.trim() }),
  ...(isTab && { tab: 'true' }),
  ...(isTab && costBy !== 'same' && { per_call: amount(perCall) }),
});

/** `get, post` → `GET,POST`. */
const methodsOf = ({ methods }: RouteDraft): string =>
  methods
    .toUpperCase()
    .split(/[\s,]+/)
    .filter((each) => each !== '')
    .join(',');

const routeTexts = (route: RouteDraft): RouteTexts => {
  const match = `${methodsOf(route)} ${route.path.trim()}`;
  if (route.kind === 'free') return { match, free: 'true' };
  if (route.kind === 'metered') return { match, ...metered(route) };
  return {
    match,
    price: amount(route.price),
    ...(route.kind === 'prepaid' && { prepaid: { units: route.units.trim() } }),
  };
};

const fileTexts = (draft: GateDraft): FileTexts => ({
  ...(draft.before === 'gate' ? { upstream: draft.upstream.trim() } : { mode: 'authorize' as const }),
  ...(draft.listen.trim() !== DEFAULT_LISTEN && { listen: draft.listen.trim() }),
  routes: draft.routes.map(routeTexts),
  ...(draft.isRefusing && { unmatched: 'refuse' as const }),
  ...(draft.dialects.length > 0 && { dialects: draft.dialects }),
});

/** By field: `upstream`, `public_url`, `routes`, `routes.0.path`, `routes.0.price`. */
export type Faults = Readonly<Record<string, string>>;

/** The names of the amounts of a route that is charged so. */
const amountsOf = ({ kind, costBy, isTab }: RouteDraft): ('price' | 'max' | 'unitPrice' | 'perCall')[] => {
  if (kind === 'free') return [];
  if (kind !== 'metered') return ['price'];
  return [
    'max',
    ...(costBy === 'same' ? (['price'] as const) : []),
    ...(costBy === 'units' ? (['unitPrice'] as const) : []),
    ...(isTab && costBy !== 'same' ? (['perCall'] as const) : []),
  ];
};

/** What must be more than its fee: the price of a call, or the ceiling of many. */
export const chargedOf = ({ kind, price, max }: RouteDraft): string | null =>
  kind === 'free' ? null : kind === 'metered' ? max : price;

/** The field of the page for a setting of a route. */
const FIELDS: Record<string, keyof RouteDraft> = {
  unit_price: 'unitPrice',
  units_header: 'header',
  price_header: 'header',
  per_call: 'perCall',
  tab: 'perCall',
  prepaid: 'units',
};

const NO_PUBLIC = 'Enter the address of your proxy: buyers type it.';
const NO_TLS =
  'Use http://. These files are for an API in your network; how your proxy uses TLS is its own matter.';

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;

const fieldOf = ([first, at, setting]: readonly PropertyKey[], draft: GateDraft): string => {
  if (first !== 'routes' || at === undefined) return String(first);
  const route = draft.routes[Number(at)]!;
  const name = String(setting ?? 'match');
  if (name !== 'match') return `routes.${String(at)}.${FIELDS[name] ?? name}`;
  return `routes.${String(at)}.${matchFault(`${methodsOf(route)} /`) === null ? 'path' : 'methods'}`;
};

const amountFaults = (routes: readonly RouteDraft[], fees: ReadonlyMap<string, Fee>): [string, string][] =>
  routes.flatMap((route, at) => {
    const wrong = amountsOf(route)
      .filter((name) => typedUsdc(route[name]) === null)
      .map((name): [string, string] => [`routes.${at}.${name}`, NOT_AN_AMOUNT]);
    const charged = chargedOf(route);
    const fee = charged === null ? undefined : fees.get(String(typedUsdc(charged)));
    return fee?.net_amount === '0'
      ? [...wrong, [`routes.${at}.${route.kind === 'metered' ? 'max' : 'price'}`, belowFee(fee)]]
      : wrong;
  });

/**
 * Checks a draft as the gate checks its file.
 * @param fees of the prices, as far as they have been read
 */
export const checkDraft = (
  draft: GateDraft,
  fees: ReadonlyMap<string, Fee>,
): { texts: FileTexts; faults: Faults } => {
  const texts = fileTexts(draft);
  const [upstream, publicUrl] = [draft.upstream.trim(), draft.publicUrl.trim()];
  const isAsked = draft.before !== 'gate';
  // A proxy that asks needs the address too, in its own file.
  const checked = GateFile.safeParse({
    ...texts,
    upstream,
    ...(publicUrl !== '' && { public_url: publicUrl }),
  });
  const found = (checked.error?.issues ?? []).map(({ path, message }): [string, string] => [
    fieldOf(path, draft),
    sentence(message),
  ]);
  const whole = checked.data && routesFault(checked.data.routes ?? [], { isAsked, trustsProxies: false });
  const faults = Object.fromEntries([
    ...found.reverse(),
    ...(typeof whole === 'string' ? [['routes', sentence(whole)]] : []),
    ...(isAsked && /^https:/i.test(upstream) ? [['upstream', NO_TLS]] : []),
    // Otherwise the gate would name its own listener, which only the proxy reaches.
    ...(isAsked && publicUrl === '' ? [['public_url', NO_PUBLIC]] : []),
    // A field of this page adds the unit, so its own sentence replaces that of the schema.
    ...amountFaults(draft.routes, fees),
  ]) as Record<string, string>;
  return { texts, faults };
};

import * as z from 'zod';
import { plainUsdc, USDC_MINTS } from '../../../sdk/src/paywall/adapter.ts';
import { matchFault } from '../ground/routes.ts';
import { readYaml, SettingsError, type YamlFile } from '../ground/yaml-file.ts';
import { Route } from './route-settings.ts';

/**
 * Routes of an OpenAPI file: the prices of `x-payment-info` (the discovery of MPP), or the settings
 * of `x-quittance`, which are those of a route in the file of a gate.
 */

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** Texts, because the file is read without numbers and nulls. */
const Offer = z.looseObject({ amount: z.string().optional(), currency: z.string().optional() });
const PaymentInfo = Offer.extend({ offers: z.array(Offer).min(1).optional() });
type PaymentInfo = z.output<typeof PaymentInfo>;
const Servers = z.array(z.looseObject({ url: z.string() }));
const Operation = z.looseObject({
  'x-payment-info': PaymentInfo.optional(),
  'x-quittance': z.record(z.string(), z.unknown()).optional(),
  servers: Servers.optional(),
});
const OperationNames = Object.fromEntries(METHODS.map((name) => [name, Operation.optional()])) as Record<
  (typeof METHODS)[number],
  z.ZodOptional<typeof Operation>
>;
const PathItem = z.looseObject({
  $ref: z.string().optional(),
  servers: Servers.optional(),
  ...OperationNames,
});
const Document = z.looseObject({
  openapi: z.string("use OpenAPI 3: the file has no 'openapi'").regex(/^3\./, 'use OpenAPI 3'),
  servers: Servers.optional(),
  paths: z.record(z.string(), PathItem).optional(),
});

type Place = readonly (string | number)[];
type Found = { match: string; path: string; route: Route };
type Context = { file: YamlFile; publicUrl: string; mistakes: string[] };

const CURRENCIES = new Set(['USDC', ...Object.values(USDC_MINTS)]);
const FREE = { free: 'true' };
const MICRO = /^(0|[1-9]\d{0,14})$/;

/** What the offers in USDC say, as settings of a route, or what is wrong with them. */
const priceIn = ({
  offers,
  ...flat
}: PaymentInfo): { price: string } | { free: string } | { fault: string } => {
  const own = (offers ?? [flat]).filter(({ currency }) => CURRENCIES.has(currency ?? ''));
  const amounts = [...new Set(own.map(({ amount }) => amount))];
  const [amount] = amounts;
  if (own.length === 0) return { fault: 'name an offer with currency: USDC' };
  if (amounts.length > 1) return { fault: 'its offers in USDC have different amounts' };
  if (amount === undefined || !MICRO.test(amount))
    return {
      fault: `amount: use the micro-units of USDC, like '50000' for 0.05, or x-quittance for a price that is not fixed`,
    };
  return amount === '0' ? FREE : { price: `${plainUsdc(amount)} USDC` };
};

/** `/forecast/{city}` → `/forecast/:city`. Null: a name is only a part of a segment. */
const patternOf = (template: string): string | null => {
  const parts = template
    .split('/')
    .map((part) => (/^\{[^{}]+\}$/.test(part) ? `:${part.slice(1, -1).replaceAll(/\W/g, '_')}` : part));
  // Names may begin with a digit there.
  const pattern = parts.map((part) => part.replace(/^:(?=\d)/, ':_')).join('/');
  return /[{}]/.test(pattern) ? null : pattern;
};

/** The path of a server's address, without the one that a proxy before the gate removes. */
const basePathOf = (url: string, publicUrl: string): string => {
  const path = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '').replace(/\/+$/, '');
  const base = path === '' || path.startsWith('/') ? path : `/${path}`;
  const removed = new URL(publicUrl).pathname.replace(/\/$/, '');
  return removed !== '' && `${base}/`.startsWith(`${removed}/`) ? base.slice(removed.length) : base;
};

/** Which parts of a path are templates: `/forecast/:city` → `001`. */
const templatesIn = (path: string): string =>
  path
    .split('/')
    .map((part) => (part.startsWith(':') ? '1' : '0'))
    .join('');

/** Concrete paths come before templates, as OpenAPI matches them. */
const byPrecedence = ({ path: one }: Found, { path: other }: Found): number => {
  const [first, second] = [templatesIn(one), templatesIn(other)];
  return first === second ? 0 : first < second ? -1 : 1;
};

/** What an operation says of its price. Null: nothing. */
const settingsIn = (
  { mistakes, file }: Context,
  place: Place,
  operation: z.output<typeof Operation>,
): Record<string, unknown> | null => {
  const { 'x-payment-info': info, 'x-quittance': own } = operation;
  if (own !== undefined) return own;
  if (info === undefined) return null;
  const found = priceIn(info);
  if ('fault' in found) {
    mistakes.push(file.mistake([...place, 'x-payment-info'], found.fault));
    return null;
  }
  return found;
};

/** The routes of one operation, one for each path of its servers. */
const routesOf = (
  context: Context,
  place: Place,
  operation: z.output<typeof Operation>,
  { servers, isPassing }: { servers: z.output<typeof Servers>; isPassing: boolean },
): Found[] => {
  const { file, publicUrl, mistakes } = context;
  const [, template, method] = place as [string, string, string];
  const count = mistakes.length;
  const settings = settingsIn(context, place, operation);
  if (mistakes.length > count || (settings === null && !isPassing)) return [];
  const addresses = (operation.servers ?? servers).map(({ url }) => url);
  const bases = new Set(
    (addresses.length === 0 ? ['/'] : addresses).map((url) => basePathOf(url, publicUrl)),
  );
  return [...bases].flatMap((base) => {
    const path = patternOf(`${base}${template}`);
    const match = `${method.toUpperCase()} ${path}`;
    const fault =
      path === null
        ? 'the gate matches whole parts of a path: name the route in gate.yaml, and leave out its price here'
        : matchFault(match);
    if (fault !== null) {
      // Without a price it needs no route.
      if (settings !== null) mistakes.push(file.mistake(place.slice(0, 2), fault));
      return [];
    }
    const parsed = Route.safeParse({ ...(settings ?? FREE), match });
    if (parsed.success) return [{ match, path: path!, route: parsed.data }];
    mistakes.push(...file.mistakes(parsed.error, [...place, 'x-quittance']));
    return [];
  });
};

/**
 * The routes of an OpenAPI file, in the order of its rules.
 * @param isPassing requests of no route pass unpaid, so an operation without a price is free, also
 *   if the template of another one matches it
 * @throws SettingsError with every mistake, each with its line
 */
export const openApiRoutes = (
  name: string,
  content: string,
  { publicUrl, isPassing }: { publicUrl: string; isPassing: boolean },
): Route[] => {
  const file = readYaml(name, content);
  const parsed = Document.safeParse(file.value);
  if (!parsed.success) throw new SettingsError(file.mistakes(parsed.error).join('\n'));
  const context: Context = { file, publicUrl, mistakes: [] };
  const { paths = {}, servers = [] } = parsed.data;
  const found = Object.entries(paths).flatMap(([template, item]) => {
    // Its prices would be missed.
    if (item.$ref !== undefined)
      context.mistakes.push(file.mistake(['paths', template, '$ref'], 'write the operations here'));
    return METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const of = { servers: item.servers ?? servers, isPassing };
      return routesOf(context, ['paths', template, method], operation, of);
    });
  });
  if (context.mistakes.length > 0) throw new SettingsError(context.mistakes.join('\n'));
  return found.sort(byPrecedence).map(({ route }) => route);
};

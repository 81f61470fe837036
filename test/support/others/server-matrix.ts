import { connect } from 'node:net';
import type { RouteSettings } from '../../../gate/src/ground/routes.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { type GateHarness, startGateHarness } from '../fixtures/gate.ts';
import { type AskingProxy, startAskingProxy } from './asking-proxies.ts';
import { FORMS, type Form, HTTP2 } from './server-forms.ts';
import { HOST } from './server-paths.ts';

/** Sends every form to one server through a gate, and says what came of each. */

/** By what the pages of a shop say (real-servers.ts). Nobody may get another one. */
const PRICES: Readonly<Record<string, bigint>> = {
  report: 50_000n,
  item: 50_000n,
  dear: 1_000_000n,
  other: 1000n,
  file: 1000n,
  model: 5_000_000n,
};
const priced = (match: string, product: string): RouteSettings => ({
  match,
  paid: { price: String(PRICES[product]) },
});
/** A dear path beside a catch-all, two prices for files, and one method only. The rest is free. */
const SHOP_ROUTES: RouteSettings[] = [
  priced('GET /report', 'report'),
  priced('PUT /items/:id', 'item'),
  priced('GET /v1/report', 'dear'),
  priced('* /v1/**', 'other'),
  priced('GET /files/**', 'file'),
  priced('GET /models/**', 'model'),
];

/** `broken`: a product without its price, or an answer to somebody else. */
type Outcome = 'priced' | 'refused' | 'free' | 'broken';
export type Cell = { form: Form; outcome: Outcome; statuses: string; fault: string | null };

/** How long an answer may take. A form that waits for more bytes than it sends has less time. */
const ANSWER_MS = 20_000;
const WAITING_MS = 1000;
const AT_ONCE = 16;
/** After one of these the next caller asks at once, because it may leave a rest behind. */
const LEAVES_A_REST = new Set(['method', 'upgrade', 'framing']);

const LAST = `GET /free/3 HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;

/** Before the answer of a request with `Expect`. */
const CONTINUE = /^HTTP\/1\.1 100[\s\S]*?\r\n\r\n/;

/** What is returned of a connection that is open, and on which nothing came. */
const SILENCE = 'no answer';

const headOf = (said: string): string => said.slice(0, said.indexOf('\r\n\r\n'));

/** Sends bytes, and more after an answer that keeps the connection. Returns all that comes back. */
const exchange = (port: number, text: string, waitMs = ANSWER_MS): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let said = '';
    let isKept = false;
    const timer = setTimeout(() => {
      said ||= SILENCE;
      socket.destroy();
    }, waitMs);
    socket.on('data', (chunk) => {
      said = (said + chunk.toString('latin1')).replace(CONTINUE, '');
      if (isKept || !said.includes('\r\n\r\n')) return;
      isKept = !/^connection: *close/im.test(headOf(said));
      if (isKept) socket.write(/^HTTP\/1\.1 101/.test(said) ? HTTP2 : LAST, 'latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(said);
    });
    socket.write(text, 'latin1');
  });

const statusesIn = (said: string): string[] =>
  [...said.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => status!);
const productsIn = (said: string): string[] =>
  [...said.matchAll(/PRODUCT ([a-z]+)/g)].map(([, product]) => product!);
const quoteIn = (said: string) => {
  const [, token] = /"quote_token":"([^"]+)"/.exec(said) ?? [];
  return token === undefined ? null : storedClaims(token);
};

type Column = Pick<GateHarness, 'api' | 'lines'> & { port: number; isForwarding: boolean };

/**
 * A caller of free pages on the connections that a form has used, with a second request where its
 * own is kept. It must get its own pages.
 */
const nextCaller = async (port: number): Promise<string | null> => {
  const said = await exchange(port, `GET /free/1 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  const pages = [...said.matchAll(/free \d|PRODUCT [a-z]+/g)].map(([page]) => page);
  const isOwn = ['free 1', 'free 1, free 3'].includes(pages.join(', '));
  return isOwn ? null : `the next caller got ${pages.join(', ') || 'no page'} (${statusesIn(said)})`;
};

/** Pays the price that a form was told, twice with the same payment. */
const payFor = async ({ api, port, lines, isForwarding }: Column, form: Form, said: string) => {
  const claims = quoteIn(said);
  if (claims === null) return null;
  const headers = api.pay({ resource: String(claims.scope!.resource) }, { amount: claims.quote_amount });
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = form.text.replace('{payment}', shown.join(''));
  const paid = await exchange(port, text);
  const again = await exchange(port, text);
  const price = BigInt(claims.quote_amount);
  for (const products of [productsIn(paid), productsIn(again)])
    if (products.length > 1 || products.some((each) => !(PRICES[each]! <= price)))
      return `paid ${price}: ${products.join(', ')}`;
  const id = headers['x-settlement-id'];
  const runs = lines.filter(
    ({ message, outcome, payment_id, upstream_status }) =>
      message === 'call' && outcome === 'paid' && payment_id === id && Number(upstream_status) < 400,
  );
  return isForwarding && runs.length > 1 ? `one payment bought ${runs.length} answers` : null;
};

const outcomeOf = (said: string): Outcome => {
  const [status] = statusesIn(said);
  if (status === '402') return 'priced';
  return status === undefined || Number(status) >= 400 ? 'refused' : 'free';
};

/** Without an answer, or with a gate that could not answer, a form has shown nothing. */
const undecided = (form: Form, said: string): string | null =>
  said === SILENCE && !form.waits
    ? SILENCE
    : statusesIn(said)[0] === '503'
      ? `no decision: ${said.split('\r\n\r\n')[1]?.slice(0, 80)}`
      : null;

const tryForm = async (column: Column, form: Form): Promise<Cell> => {
  const waitMs = form.waits ? WAITING_MS : ANSWER_MS;
  const said = await exchange(column.port, form.text.replace('{payment}', ''), waitMs);
  const products = productsIn(said);
  const fault =
    products.length > 0
      ? `unpaid: ${products.join(', ')}`
      : (undecided(form, said) ??
        (form.text.includes('{payment}') ? await payFor(column, form, said) : null) ??
        (LEAVES_A_REST.has(form.family) ? await nextCaller(column.port) : null));
  return {
    form,
    outcome: fault === null ? outcomeOf(said) : 'broken',
    statuses: statusesIn(said).join(','),
    fault,
  };
};

/** All cells of one server. */
const runColumn = async (column: Column): Promise<Cell[]> => {
  const cells: Cell[] = [];
  const alone = FORMS.filter(({ family }) => LEAVES_A_REST.has(family));
  const others = FORMS.filter(({ family }) => !LEAVES_A_REST.has(family));
  for (let at = 0; at < others.length; at += AT_ONCE) {
    const some = others.slice(at, at + AT_ONCE);
    const ended = await Promise.all(some.map((form) => tryForm(column, form)));
    const fault = await nextCaller(column.port);
    if (fault !== null)
      Object.assign(ended.at(-1)!, { outcome: 'broken', fault: `one of ${AT_ONCE}: ${fault}` });
    cells.push(...ended);
  }
  for (const form of alone) cells.push(await tryForm(column, form));
  return cells;
};

/** What stands before a shop: a gate, or a proxy that asks one. */
export type Place = { server: string; proxy: AskingProxy | null };
export const nameOf = ({ server, proxy }: Place): string => (proxy === null ? server : `${proxy}, ${server}`);

/** A limit of the API that no form reaches: a refusal for it would hide what the gate decides. */
const MANY_QUOTES = {
  'ratelimit-policy': '"account";q=100000;w=60',
  ratelimit: '"account";r=100000;t=60',
};

/** All cells of a server that listens on a port, behind a gate of its own. */
export const runPlace = async ({ proxy }: Place, upstreamPort: number): Promise<Cell[]> => {
  const upstream = proxy === null ? new URL(`http://127.0.0.1:${upstreamPort}`) : null;
  const harness = await startGateHarness((_request, response) => response.end(), {
    upstream,
    routes: SHOP_ROUTES,
    hosts: { own: HOST, served: [HOST] },
  });
  harness.api.quoteHeaders = MANY_QUOTES;
  const gatePort = harness.gate.port;
  const asking = proxy === null ? null : await startAskingProxy(proxy, { gatePort, upstreamPort });
  const port = asking === null ? gatePort : Number(new URL(asking.url).port);
  try {
    return await runColumn({ ...harness, port, isForwarding: proxy === null });
  } finally {
    await asking?.stop();
    await harness.stop();
  }
};

const FAMILIES = [...new Set(FORMS.map(({ family }) => family))];
const OUTCOMES = ['broken', 'priced', 'refused', 'free'] as const;

/** The matrix as lines: for each family how many cells are broken, priced, refused and free. */
export const linesOf = (columns: ReadonlyMap<string, readonly Cell[]>): string[] => {
  const count = (cells: readonly Cell[], family: string): string =>
    OUTCOMES.map(
      (outcome) => cells.filter((cell) => cell.outcome === outcome && cell.form.family === family).length,
    ).join('/');
  const line = (name: string, fields: readonly string[]) =>
    name.padEnd(32) + fields.map((field) => field.padEnd(16)).join('');
  return [
    line(`${OUTCOMES.join('/')} of`, FAMILIES),
    ...[...columns].map(([name, cells]) =>
      line(
        name,
        FAMILIES.map((family) => count(cells, family)),
      ),
    ),
  ];
};

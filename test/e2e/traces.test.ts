import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import {
  createConsumer,
  createDelegate,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import type { Trace, TracedSpan } from '../../deploy/local/traces/store.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

const stack = runningStack();
const api = createApi(stack.gateway_url);
const collector = stack.traces_url!;

const traces = async (): Promise<Trace[]> => (await (await fetch(`${collector}/traces`)).json()) as Trace[];
const has = (trace: Trace, name: string, value: string) =>
  trace.spans.some(({ attributes }) => attributes[name] === value);

/** @param all the traces of every suite */
type Complete = (trace: Trace, all: readonly Trace[]) => boolean;

/** The trace with a value on one of its spans, once all expected spans were exported. */
const traceWith = async (name: string, value: string, complete: Complete = () => true): Promise<Trace> => {
  const deadline = Date.now() + 50_000;
  for (;;) {
    const all = await traces();
    const found = all.find((trace) => has(trace, name, value) && complete(trace, all));
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`no complete trace with ${name}=${value}`);
    await sleep(200);
  }
};
const traceOf = (attempt: string, complete: Complete): Promise<Trace> =>
  traceWith('quittance.payment_attempt_id', attempt, complete);

/**
 * Service and delegate keys, tokens of mails and cookies, webhook secrets, access, quote and
 * settlement tokens.
 */
const SECRETS =
  /\b(?:vendor|dk|rt|ml|rv)_(?:test|live)_[\w-]{20,}|whsec_[\w+/=]{20,}|\beyJ[\w-]{20,}\.[\w-]{20,}/g;

const line = ({ kind, service, name }: TracedSpan) => `${kind} ${service} ${name}`;

const settle = 'server settlement process rpc.settlement.settle';
const handedJob = 'hand.chain-submitter.settle.*';
const job = `consumer chain-submitter process ${handedJob}`;
const execute = 'internal chain-submitter execute settle';
const progress = 'hand.settlement.settleProgressed.*';
const ROOT = ' → server gateway POST /v1/settle';
const ONE_SETTLE = [
  ROOT,
  'server gateway POST /v1/settle → client gateway evalsha',
  'server gateway POST /v1/settle → client gateway request rpc.settlement.settle',
  `client gateway request rpc.settlement.settle → ${settle}`,
  `${settle} → client settlement request int.wallet.findDefaults`,
  'client settlement request int.wallet.findDefaults → server wallet process int.wallet.findDefaults',
  `${settle} → client settlement INSERT settlement_keys INSERT settlements UPDATE payers UPDATE delegates INSERT outbox`,
  `${settle} → producer settlement send ${handedJob}`,
  `producer settlement send ${handedJob} → ${job}`,
  `${job} → ${execute}`,
  `${execute} → client chain-submitter simulateTransaction`,
  `${execute} → client chain-submitter INSERT spending INSERT intents UPDATE intents INSERT transactions INSERT outbox`,
  `${execute} → client chain-submitter sendTransaction`,
  `${job} → internal chain-submitter poll signature statuses`,
  'internal chain-submitter poll signature statuses → client chain-submitter getSignatureStatuses',
  `${job} → producer chain-submitter send ${progress}`,
  `producer chain-submitter send ${progress} → consumer settlement process ${progress}`,
  `consumer settlement process ${progress} → producer settlement send evt.settlement.issued`,
  'producer settlement send evt.settlement.issued → consumer wallet process evt.settlement.issued',
];

/** Payments become final on a grid of a second, so this event may be sent in another trace. */
const FINAL = ' → consumer wallet process evt.settlement.finalized';

/** Each span with its parent. A span without a parent in the trace begins with an arrow. */
const arrowsOf = ({ spans }: Trace): string[] => {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  return spans.map((span) => {
    const parent = span.parent_span_id === null ? undefined : byId.get(span.parent_span_id);
    return `${parent === undefined ? '' : line(parent)} → ${line(span)}`;
  });
};

const FINAL_SENT = 'producer settlement send evt.settlement.finalized';
const isFinal = (trace: Trace, all: readonly Trace[]): boolean =>
  arrowsOf(trace).some((arrow) => arrow.endsWith(FINAL)) &&
  all.some(({ trace_id: id, spans }) =>
    spans.some(
      (span) =>
        line(span) === FINAL_SENT &&
        [id, ...span.links.map((link) => link.trace_id)].includes(trace.trace_id),
    ),
  );

/** What a trace lacks, and the spans whose parent it lacks. */
const faultsOf = (trace: Trace, all: readonly Trace[]): string[] => {
  const arrows = arrowsOf(trace);
  return [
    ...ONE_SETTLE.filter((arrow) => !arrows.includes(arrow)),
    ...(isFinal(trace, all) ? [] : [FINAL]),
    ...arrows.filter((arrow) => arrow.startsWith(' → ') && arrow !== ROOT),
  ];
};

/** Whether a poll, a write or a message served this trace and others. One of them has its span. */
const isShared = ({ trace_id: id }: Trace, all: readonly Trace[]): boolean =>
  all.some(({ trace_id, spans }) =>
    spans.some(({ links }) => links.some((link) => (link.trace_id === id) !== (trace_id === id))),
  );

/**
 * Pays until a payment shares no work with payments of other suites, for a limited time. Each is
 * the first one of its consumer, because settlement remembers a wallet for a second.
 * @returns the last payment with its trace
 */
const payAlone = async (vendor: Vendor): Promise<{ paid: Paid; trace: Trace }> => {
  const deadline = Date.now() + 45_000;
  const isOver = () => Date.now() > deadline;
  for (;;) {
    const { token } = await createConsumer(api, stack);
    const attempt = `traced-${crypto.randomUUID()}`;
    const paid = await must(settleWith(api, token, await quoteOf(api, vendor), attempt), 'settle');
    const trace = await traceOf(
      attempt,
      (found, all) =>
        faultsOf(found, all).length === 0 || (isFinal(found, all) && isShared(found, all)) || isOver(),
    );
    if (faultsOf(trace, await traces()).length === 0 || isOver()) return { paid, trace };
  }
};

test('one settle is one trace, from the call over NATS to the chain and back', async () => {
  const { paid, trace: whole } = await payAlone(await createVendor(api, stack));
  expect(faultsOf(whole, await traces())).toEqual([]);

  const root = whole.spans.find(({ parent_span_id }) => parent_span_id === null)!;
  expect(root.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/settle',
    'http.response.status_code': 200,
    'deployment.environment.name': 'test',
    'quittance.settlement_id': paid.settlement_id,
  });
  // Consumers also name their message as a link, as the semantic conventions require.
  const consumed = whole.spans.filter(({ kind }) => kind === 'consumer');
  for (const { parent_span_id, links } of consumed) expect(links[0]?.span_id).toBe(parent_span_id);
});

test('concurrent settles have one trace each, although one call polls the chain for all of them', async () => {
  const [vendor, consumer] = [await createVendor(api, stack), await createConsumer(api, stack)];
  const attempts = await atOnce(8, async () => {
    const attempt = `traced-${crypto.randomUUID()}`;
    await must(settleWith(api, consumer.token, await quoteOf(api, vendor), attempt), 'settle');
    return attempt;
  });
  const found = await Promise.all(
    attempts.map((attempt) =>
      traceOf(attempt, ({ spans }) => spans.some(({ name }) => name === 'process evt.settlement.issued')),
    ),
  );
  expect(new Set(found.map(({ trace_id }) => trace_id)).size).toBe(8);
  for (const [index, { spans }] of found.entries()) {
    const ids = spans.flatMap(({ attributes }) => attributes['quittance.payment_attempt_id'] ?? []);
    expect(new Set(ids)).toEqual(new Set([attempts[index]]));
  }
});

test('an external traceparent starts a new trace that is linked to it', async () => {
  const outside = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
  await fetch(`${stack.gateway_url}/v1/quotes`, {
    headers: { traceparent: `00-${outside.trace}-${outside.span}-01`, 'x-request-id': 'traced-from-outside' },
  });
  const trace = await traceWith('quittance.request_id', 'traced-from-outside');
  expect(trace.trace_id).not.toBe(outside.trace);
  expect(trace.spans[0]!.links).toEqual([{ trace_id: outside.trace, span_id: outside.span }]);
  expect(trace.spans[0]!.attributes['http.response.status_code']).toBe(401);
});

test('no trace, log or metric contains a key, a token, a signed transaction or a mail address', async () => {
  const vendor = await createVendor(api, stack);
  const consumer = await createConsumer(api, stack);
  const delegate = await createDelegate(api, consumer, { total: '50000000' });
  const quote = await quoteOf(api, vendor);
  const paid = await must(
    settleWith(api, delegate.api_key, quote, `secret-${crypto.randomUUID()}`),
    'settle',
  );
  await must(
    api(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token: paid.settlement_token },
    }),
    'redeem',
  );
  const rotated = await must(
    api<{ api_key: string }>(`POST /v1/services/${vendor.serviceId}/key/rotate`, { token: vendor.apiKey }),
    'rotate',
  );
  await api('POST /v1/quote', { token: `${rotated.api_key.slice(0, -1)}0`, body: {} });
  const secrets = [
    ...[vendor.apiKey, rotated.api_key, delegate.api_key],
    ...[vendor, consumer].flatMap(({ signIn }) => [signIn.access_token, signIn.refresh_token]),
    ...[quote.quote_token, paid.settlement_token],
  ].map((secret) => secret.slice(-30)); // A part of a key is also secret.
  const mails = [vendor, consumer].map(({ signIn }) => signIn.account.email);
  await traceWith('quittance.service_id', vendor.serviceId, ({ spans }) =>
    spans.some(({ name }) => name.endsWith('/key/rotate')),
  );

  const logs = path.join(path.dirname(process.env.STACK_FILE!), 'logs');
  const pages = await Promise.all(
    Object.entries(stack.metrics).map(
      async ([name, url]) => [name, await (await fetch(url)).text()] as const,
    ),
  );
  const outputs: (readonly [string, string])[] = [
    ['traces', JSON.stringify(await traces())],
    ...(existsSync(logs) ? readdirSync(logs) : []).map(
      (name) => [name, readFileSync(path.join(logs, name), 'utf8')] as const,
    ),
    ...pages,
  ];
  expect(outputs.length).toBeGreaterThan(15);
  const leaks = outputs.flatMap(([name, text]) =>
    [...secrets, ...mails].filter((secret) => text.includes(secret)).map((secret) => `${name}: …${secret}`),
  );
  expect(leaks).toEqual([]);
  // Whatever ran before: no text that has the form of a secret, of any account.
  const shapes = outputs.flatMap(([name, text]) => [...text.matchAll(SECRETS)].map(() => name));
  expect(shapes).toEqual([]);
});

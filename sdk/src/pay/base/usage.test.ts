import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DELEGATE_KEY } from '../../../../test/support/base/keys.ts';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { type MeteredRoute, meterOf } from '../../paywall/main.ts';
import { payingFetch, usageOf } from '../main.ts';

/** What a stream has cost, once its buyer has read it. Its vendor is a web-standard handler. */
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());

const CALL: MeteredRoute<Request> = { max: '$0.50' };
const TAB: MeteredRoute<Request> = { max: '$0.50', tab: { perCall: '$0.10' } };

/**
 * A handler whose stream charges for each of its three words, and then ends or waits.
 * @param begun its second word waits for it. By default the answer is there at once
 */
const stream =
  (type: string, cancelled: (reason: unknown) => void, ends = true, begun?: Promise<void>) =>
  (request: Request) => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (sent === 1) await begun;
        if (sent === 3) return ends ? controller.close() : undefined;
        sent += 1;
        meterOf(request).charge('$0.01');
        controller.enqueue(new TextEncoder().encode(`data: ${sent}\n\n`));
      },
      cancel: cancelled,
    });
    return new Response(body, { headers: { 'content-type': type } });
  };
const buyer = (route: MeteredRoute<Request>, type: string, ends = true, begun?: Promise<void>) => {
  const cancels: unknown[] = [];
  const serve = api.paywall().metered(
    route,
    stream(type, (reason) => cancels.push(reason), ends, begun),
  );
  const pay = payingFetch(
    async (url, init) =>
      String(url).startsWith(api.baseUrl) ? fetch(url, init) : serve(new Request(url, init)),
    { baseUrl: api.baseUrl, delegateKey: DELEGATE_KEY, maxAmount: '$1' },
  );
  return { ask: () => pay(`${PUBLIC_URL}/words`), cancels };
};
const EVENTS = 'text/event-stream';

test.each<[string, (answer: Response) => Promise<unknown>]>([
  ['text', (answer) => answer.text()],
  ['arrayBuffer', (answer) => answer.arrayBuffer()],
  [
    'its body',
    async (answer) => {
      for await (const _chunk of answer.body!);
    },
  ],
])('a stream of events of a tab has its figures when it was read by %s', async (_name, read) => {
  const answer = await buyer(TAB, EVENTS).ask();
  expect(usageOf(answer)).toMatchObject({ chargedMicro: null, leastMicro: '10001' });
  await read(answer);
  expect(usageOf(answer)).toMatchObject({ chargedMicro: '30000', leftMicro: '470000' });
  expect(answer.bodyUsed).toBe(true);
});

test.each([EVENTS, 'text/plain'])('a stream of %s for one call has its figures', async (type) => {
  const answer = await buyer(CALL, type).ask();
  expect(await answer.text()).toContain('data: 3');
  await waitUntil(() => usageOf(answer)?.chargedMicro === '30000');
  expect(usageOf(answer)?.leftMicro).toBe(null);
});

test('a stream of a tab that is not of events has its figures a moment after it was read', async () => {
  const begun = Promise.withResolvers<void>();
  const { ask } = buyer(TAB, 'text/plain', true, begun.promise);
  const answers = [await ask(), await ask()];
  expect(answers.map(({ headers }) => headers.get('quittance-usage'))).toEqual([
    'charged=later, left=400000',
    'charged=later, left=300000',
  ]);
  expect(answers.map((answer) => usageOf(answer)?.chargedMicro)).toEqual([null, null]);
  begun.resolve();
  for (const answer of answers) expect(await answer.text()).toContain('data: 3');
  await waitUntil(() => answers.every((answer) => usageOf(answer)?.chargedMicro === '30000'));
});

test('only the payer of a call can ask what it has cost, and nobody for one that is not known', async () => {
  const begun = Promise.withResolvers<void>();
  const serve = api.paywall().metered(
    TAB,
    stream('text/plain', () => undefined, true, begun.promise),
  );
  const { headers } = api.authorize({ resource: `${PUBLIC_URL}/words`, tab: true }, 500_000n);
  const ask = (id: string, more: Record<string, string>) =>
    serve(new Request(`${PUBLIC_URL}/words`, { headers: { 'x-payment-request-id': id, ...more } }));
  const answer = await ask('a', headers);
  begun.resolve();
  await answer.text();
  const usageFor = (id: string, by: Record<string, string>) => ask(id, { ...by, 'x-tab-usage': 'true' });
  await waitUntil(async () => (await usageFor('a', headers)).status === 200);
  expect(await (await usageFor('a', headers)).json()).toEqual({ usage: 'charged=30000, left=470000' });
  expect((await usageFor('b', headers)).status).toBe(404);
  const other = api.authorize({ resource: `${PUBLIC_URL}/words`, tab: true }, 500_000n);
  expect((await usageFor('a', other.headers)).status).toBe(404);
  expect((await usageFor('a', {})).status).toBe(402);
});

test('who stops reading is not kept by the figures, and a copy can be made before', async () => {
  const { ask, cancels } = buyer(TAB, EVENTS, false);
  const answer = await ask();
  const reader = answer.body!.getReader();
  await reader.read();
  await reader.cancel('enough');
  await waitUntil(() => cancels.length === 1);
  const other = await buyer(TAB, EVENTS).ask();
  expect(await other.clone().text()).toContain('data: 3');
});

import { afterEach, expect, test } from '@jest/globals';
import { ask, startGateWorld } from '../../test/support/gate.ts';
import { waitUntil } from '../../test/support/wait.ts';

/** The end of a gate while another one goes on with the same store. */
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

test.each([
  ['no answer yet', 0],
  ['the beginning of an answer', 10],
  ['more of an answer than is stored', 50_000],
])('a payment whose call is cut off after %s is served by the next gate', async (_, bytes) => {
  const storeUrl = process.env.REDIS_URL!;
  const timeouts = { connectMs: 1000, answerMs: 10_000, idleMs: 60_000, drainMs: 1 };
  const ending = await startGateWorld(
    (_request, response) => {
      if (bytes > 0) response.write('a'.repeat(bytes));
    },
    { storeUrl, timeouts },
  );
  stops.push(ending.stop);
  const next = await startGateWorld((_request, response) => response.end('all of it'), {
    storeUrl,
    paywall: ending.settings.paywall,
  });
  stops.push(next.stop);

  const headers = ending.pay();
  let received = 0;
  const cut = ask(`${ending.url}/report`, { headers }, (request) => {
    request.on('response', (answer) =>
      answer.on('data', (chunk: Buffer) => {
        received += chunk.length;
      }),
    );
    request.end();
  });
  cut.catch(() => undefined);
  await waitUntil(() => ending.upstream.seen.length === 1 && received >= bytes);
  await ending.gate.stop();
  await expect(cut).rejects.toThrow();
  expect(ending.lines.at(-1)).toMatchObject({ message: 'call', reason: 'gate_ended', outcome: 'paid' });

  const again = await ask(`${next.url}/report`, { headers });
  expect([again.answer.statusCode, again.text]).toEqual([200, 'all of it']);
  expect(ending.api.calls().filter((call) => call === 'redeem')).toHaveLength(1);
});

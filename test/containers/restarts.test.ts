import { expect, test } from '@jest/globals';
import { waitFor } from '../support/wait.ts';
import { createParties, payAndReadBack } from './payment.ts';
import { allHealthy, compose, containerOf, inspect, installation, services } from './running.ts';

/** Proves that the system pays again after each of its servers was restarted. */
test.each(['nats', 'redis', 'postgres', 'chain'])('a restart of %s: payments succeed again', async (server) => {
  const parties = await createParties(installation);
  await compose('restart', server);
  const startedAt = performance.now();
  // A call during the interruption may fail. `payAndReadBack` makes a new payment each time.
  await waitFor(
    () =>
      payAndReadBack(installation, parties).then(
        ({ status }) => status,
        (error: Error) => error.message,
      ),
    (status) => status === 'confirmed',
    60_000,
    500,
  );
  console.info(
    `paid ${((performance.now() - startedAt) / 1000).toFixed(1)} s after the restart of ${server}`,
  );
  await allHealthy();
  const { State } = await inspect(await containerOf(server));
  expect(State).toMatchObject({ Status: 'running', Health: { Status: 'healthy' } });
});

test('every line of the programs is JSON, and a line of an unavailable dependency has no stack', async () => {
  const product = Object.keys(services).filter((name) => services[name]!.image === 'quittance:local');
  for (const name of product) {
    const lines = (await compose('logs', '--no-log-prefix', '--no-color', name)).split('\n').filter(Boolean);
    const parsed = lines.map((line) => {
      try {
        return JSON.parse(line) as { err?: { type: string; message: string; stack?: string } };
      } catch {
        throw new Error(`${name} has written a line that is not JSON: ${line}`);
      }
    });
    const expected = parsed.filter(({ err }) => /^RpcUnavailable|ECONNREFUSED/.test(`${err?.type} ${err?.message}`));
    expect([name, expected.filter(({ err }) => err!.stack !== undefined)]).toEqual([name, []]);
  }
});

import { expect, test } from '@jest/globals';
import { waitFor } from '../support/base/wait.ts';
import { createParties, payAndReadBack } from './payment.ts';
import { allHealthy, compose, containerOf, inspect, installation, services } from './running.ts';

/** Proves that the system pays again after each of its servers was restarted. */
test.each(['nats', 'redis', 'postgres'])('a restart of %s: payments succeed again', async (server) => {
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
    180_000,
    500,
  );
  console.info(
    `paid ${((performance.now() - startedAt) / 1000).toFixed(1)} s after the restart of ${server}`,
  );
  await allHealthy();
  const { State } = await inspect(await containerOf(server));
  expect(State).toMatchObject({ Status: 'running', Health: { Status: 'healthy' } });
});

type Line = { err?: { type: string; message: string; stack?: string } };

/** The lines of a service's container. Compose begins each with a code for a terminal. */
const linesOf = async (name: string): Promise<Line[]> => {
  const text = await compose('logs', '--no-log-prefix', '--no-color', name);
  const lines = text.replaceAll('\u001b[2K', '').split('\n');
  return lines.filter(Boolean).map((line) => {
    try {
      return JSON.parse(line) as Line;
    } catch {
      throw new Error(`${name} has written a line that is not JSON: ${line}`);
    }
  });
};

test('every line of the programs is JSON, and an unavailable server is logged without a stack', async () => {
  await compose('restart', 'chain');
  await allHealthy();
  const product = Object.keys(services).filter((name) => services[name]!.image === 'quittance:local');
  const lines = (await Promise.all(product.map(linesOf))).flat();
  const unavailable = lines.filter(({ err }) => /^(RpcUnavailable|ConnectionError)/.test(err?.type ?? ''));
  expect(unavailable.length).toBeGreaterThan(0);
  expect(unavailable.filter(({ err }) => err!.stack !== undefined)).toEqual([]);
});

import { expect, test } from '@jest/globals';
import { waitFor } from '../support/wait.ts';
import { createParties, payAndReadBack } from './payment.ts';
import { allHealthy, compose, containerOf, inspect, installation } from './running.ts';

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

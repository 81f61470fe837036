import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import { createFixture, type Fixture } from '../races/fixture.ts';
import { races, run } from '../races/races.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Runs each race once. `npm run prove -- races` repeats them. */
const stack = runningStack();
const database = connectDatabases(stack.postgres_urls, { max: 2 });
afterAll(() => database.end());

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(stack, database);
});

test.each(Object.entries(races))('%s', async (_name, race) => expect(await run(race, fixture)).toEqual([]));

// `npm run prove -- races`: races that must have one winner, again and again over a stack of its
// own.
import { readCommandLine, refuse, text, whole } from '../../deploy/local/processes/command-line.ts';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import { HIGH_HOURLY_CAPS } from '../../deploy/local/stack/settings.ts';
import { startStack } from '../../deploy/local/stack/stack.ts';
import { testStateDir } from '../support/servers/test-state.ts';
import { createFixture } from './fixture.ts';
import { races, run } from './races.ts';

const { values } = readCommandLine({
  typed: 'npm run prove -- races',
  about: 'Makes concurrent calls that must have one winner, again and again over a stack of its own.',
  options: {
    rounds: whole('N', 'how often each race is run', 30),
    seconds: whole('N', 'after this time no new round begins', 3600),
    only: text('TEXT', 'only the races whose name contains the text, like delegate', ''),
  },
});
const { rounds } = values;
const chosen = Object.entries(races).filter(([name]) => name.includes(values.only));
if (chosen.length === 0) refuse(`the races are: ${Object.keys(races).join('; ')}`);
const deadline = performance.now() + values.seconds * 1000;

const running = await startStack({
  stateDir: testStateDir('races'),
  ports: 'any',
  chainSlotMs: 100,
  rateLimitScale: 10_000,
  hourlyCaps: HIGH_HOURLY_CAPS,
  durable: false,
  // Two replicas of each service that could disagree.
  instances: { settlement: 2, 'chain-submitter': 2 },
});
const database = connectDatabases(running.stack.postgres_urls, { max: 2 });
const results = new Map(chosen.map(([name]) => [name, { breaks: new Set<string>(), seconds: 0 }]));
let counts: ReadonlyMap<string, number> = new Map();
let broken = 0;
let done = 0;
try {
  const fixture = await createFixture(running.stack, database);
  for (let round = 1; round <= rounds && performance.now() < deadline; round += 1) {
    for (const [name, race] of chosen) {
      const startedAt = performance.now();
      const found = await run(race, fixture);
      const result = results.get(name)!;
      result.seconds += (performance.now() - startedAt) / 1000;
      for (const what of found) result.breaks.add(what);
      broken += found.length > 0 ? 1 : 0;
      for (const what of found.slice(0, 5)) console.log(`round ${round}, ${name}: ${what}`);
    }
    counts = fixture.counts;
    done = round;
    if (round % 5 === 0) console.log(`${round} rounds`);
  }
} finally {
  await database.end();
  await running.stop();
}
const width = Math.max(...chosen.map(([name]) => name.length));
console.log(`\n${'race'.padEnd(width)} rounds  seconds  breaks`);
for (const [name, { breaks, seconds }] of results)
  console.log(
    `${name.padEnd(width)} ${String(done).padStart(6)} ${seconds.toFixed(1).padStart(8)} ${String(breaks.size).padStart(7)}`,
  );
for (const [what, times] of [...counts].sort()) console.log(`${what}: ${times}`);
process.exit(broken === 0 ? 0 : 1);

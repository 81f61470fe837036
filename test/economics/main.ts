// `npm run economics`: every close-and-come-back attack, over a chain-submitter and a local chain of its own.
import { readCommandLine, wholeNumber } from '../../deploy/local/command-line.ts';
import { startServers } from '../../deploy/local/start-servers.ts';
import { startSubmitterFixture } from '../support/submitter.ts';
import { testStateDir } from '../support/test-state.ts';
import { attacks, type Result, runAttack } from './attack.ts';

const usage = `Usage: npm run economics -- [options]

  --rounds 1000   how often each attack is made; prints what all of them have cost
  --help          this text`;

const { values } = readCommandLine(usage, { options: { rounds: { type: 'string', default: '1000' } } });
const rounds = wholeNumber('rounds', values.rounds);

const cells = (result: Result): (string | number | bigint)[] => [
  result.attack,
  result.rounds,
  result.created,
  result.refused,
  result.rent,
  result.lamports - result.rent,
  `${result.bystanders} paid, slowest ${result.slowestMs} ms`,
];
const print = (row: readonly unknown[]) => console.log(`| ${row.map(String).join(' | ')} |`);

const servers = await startServers({ stateDir: testStateDir('economics') });
process.env.POSTGRES_URL = servers.postgresUrl;
const fixture = await startSubmitterFixture();
try {
  await fixture.start();
  print(['Attack', 'Rounds', 'Created', 'Refused', 'Rent lost', 'Fees', 'Others meanwhile']);
  print(['---', '---', '---', '---', '---', '---', '---']);
  for (const name of Object.keys(attacks)) print(cells(await runAttack(fixture, name, rounds)));
} finally {
  await fixture.stop();
  await servers.stop();
}

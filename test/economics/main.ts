// `npm run economics`: every attack on the fee payer's spending, each over a separate
// chain-submitter and local chain.
import { readCommandLine, wholeNumber } from '../../deploy/local/processes/command-line.ts';
import { startServers } from '../../deploy/local/servers/start-servers.ts';
import { createTemplate } from '../support/migrated-database.ts';
import { startSubmitterFixture } from '../support/submitter.ts';
import { testStateDir } from '../support/test-state.ts';
import { attacks, type Result, runAttack } from './attack.ts';

const usage = `Usage: npm run economics -- [options]

  --rounds 1000   rounds of each attack; prints the cost of each attack
  --attack text   only the attacks whose name contains the text
  --help          this text`;

const { values } = readCommandLine(usage, {
  options: { rounds: { type: 'string', default: '1000' }, attack: { type: 'string', default: '' } },
});
const rounds = wholeNumber('rounds', values.rounds);

const HEAD = [
  ...['Attack', 'Rounds', 'Created', 'Refused', 'Rent lost', 'Fees lost'],
  ...['Cost to the attacker', 'Others meanwhile'],
];
const usdc = (micro: bigint) => (Number(micro) / 1e6).toFixed(2);
const cells = (result: Result): (string | number | bigint)[] => [
  ...[result.attack, result.rounds, result.created, result.refused, result.rent, result.fees],
  `${usdc(result.attackerMicro)} USDC and ${result.attackerLamports}`,
  `${result.bystanders} paid, slowest ${result.slowestMs} ms; new vendors ${result.newVendors.granted} of ${result.newVendors.granted + result.newVendors.refused}`,
];
const print = (row: readonly unknown[]) => console.log(`| ${row.map(String).join(' | ')} |`);

const servers = await startServers({ stateDir: testStateDir('economics') });
process.env.POSTGRES_URL = servers.postgresUrl;
const template = await createTemplate(servers.postgresUrl).catch(async (error: unknown) => {
  await servers.stop();
  throw error;
});
try {
  print(HEAD);
  print(HEAD.map(() => '---'));
  for (const [name, { env }] of Object.entries(attacks)) {
    if (!name.includes(values.attack)) continue;
    const fixture = await startSubmitterFixture();
    try {
      await fixture.start(env?.(rounds) ?? {});
      print(cells(await runAttack(fixture, name, rounds)));
    } finally {
      await fixture.stop();
    }
  }
} finally {
  await template.drop();
  await servers.stop();
}

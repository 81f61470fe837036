// `npm run prove -- economics`: every attack on the fee payer's spending, each over a separate
// chain-submitter and local chain.

import path from 'node:path';
import { flag, readCommandLine, text, whole } from '../../deploy/local/processes/command-line.ts';
import { startServers } from '../../deploy/local/servers/start-servers.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import { startSubmitterFixture } from '../support/fixtures/chain-submitter/submitter.ts';
import { createBusTemplate } from '../support/servers/bus.ts';
import { createTemplate } from '../support/servers/migrated-database.ts';
import { testStateDir } from '../support/servers/test-state.ts';
import { type AttackName, attackNames, attackOf, BystanderUnpaid, type Result, runAttack } from './attack.ts';
import { economicsMutations } from './mutations.ts';

const { values } = readCommandLine({
  typed: 'npm run prove -- economics',
  about: 'Prints the cost of each attack on the spending of the fee payer.',
  options: {
    rounds: whole('N', 'rounds of each attack', 1000),
    attack: text('TEXT', 'only the attacks whose name contains the text', ''),
    mutate: flag('switches off each rule that keeps an attack from stopping the others'),
  },
});
const { rounds } = values;
const MUTANT_ROUNDS = 20;

const HEAD = [
  ...['Attack', 'Rounds', 'Created', 'Refused', 'Rent lost', 'Fees lost'],
  ...['Cost to the attacker', 'Others meanwhile'],
];
const cells = (result: Result): (string | number | bigint)[] => [
  ...[result.attack, result.rounds, result.created, result.refused, result.rent, result.fees],
  `${displayUsdc(result.attackerMicro)} and ${result.attackerLamports}`,
  `${result.bystanders} paid, slowest ${result.slowestMs} ms; new vendors ${result.newVendors.granted} of ${result.newVendors.granted + result.newVendors.refused}`,
];
const print = (row: readonly unknown[]) => console.log(`| ${row.map(String).join(' | ')} |`);

/** Runs an attack over a chain-submitter and a chain of its own. */
const withSubmitter = async <T>(
  name: AttackName,
  { rounds, mutation }: { rounds: number; mutation?: string },
  read: (run: () => Promise<Result>) => Promise<T>,
): Promise<T> => {
  const fixture = await startSubmitterFixture();
  try {
    await fixture.start(attackOf(name).env?.(rounds) ?? {}, undefined, mutation);
    return await read(() => runAttack(fixture, name, rounds));
  } finally {
    await fixture.stop();
  }
};

/** The cost of each attack. */
const measure = async (): Promise<void> => {
  print(HEAD);
  print(HEAD.map(() => '---'));
  for (const name of attackNames.filter((one) => one.includes(values.attack)))
    print(cells(await withSubmitter(name, { rounds }, (run) => run())));
};

/** Each rule that bounds an attack, switched off. Its attack must then stop the others. */
const mutate = async (): Promise<boolean> => {
  let isEachCaught = true;
  print(['Rule switched off', 'Rule', 'Attack', 'What broke']);
  print(Array(4).fill('---'));
  for (const { name, rule, attack } of economicsMutations) {
    const found = await withSubmitter(attack, { rounds: MUTANT_ROUNDS, mutation: name }, async (run) =>
      run().catch((error: unknown) => {
        if (error instanceof BystanderUnpaid) return error.message;
        throw error;
      }),
    );
    const isCaught = typeof found === 'string';
    isEachCaught &&= isCaught;
    print([name, rule, attack, isCaught ? found : 'NOT CAUGHT']);
  }
  return isEachCaught;
};

const stateDir = testStateDir('economics');
const servers = await startServers({ stateDir });
process.env.POSTGRES_URL = servers.postgresUrl;
const [template] = await Promise.all([
  createTemplate(servers.postgresUrl),
  createBusTemplate(path.join(stateDir, 'bus')),
]).catch(async (error: unknown) => {
  await servers.stop();
  throw error;
});
try {
  if (!values.mutate) await measure();
  else if (!(await mutate())) process.exitCode = 1;
} finally {
  await template.drop();
  await servers.stop();
}

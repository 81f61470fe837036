// `npm run ops -- nkey <process>`: a new NKEY of a user of the bus (docs/operations.md, Keys of the
// bus). The output contains its seed.
import { readCommandLine, refuse, text } from '../deploy/local/processes/command-line.ts';
import { newNkeySeed, nkeyOf } from '../shared/bus/nkey.ts';
import { natsRights } from '../shared/bus/topology.ts';
import { OperatorName } from '../shared/contract/service.ts';
import { linesOf } from './k8s/bus.ts';

const PROGRAMS = ['admin', ...Object.keys(natsRights())];
const { values, words, usage } = readCommandLine({
  typed: 'npm run ops -- nkey',
  words: '[process]',
  about: `Prints a new seed of a process or of an operator, its public key, and the lines of users.conf by which nats-server
lets it log in. The seed is a secret: NATS_NKEY_SEED of the process, or of the operator's npm run ops.
Processes: ${PROGRAMS.join(', ')}.`,
  options: { operator: text('NAME', 'an operator instead of a process') },
});
const { operator } = values;
const [program] = words;
if (words.length > 1 || (operator === undefined) === (program === undefined)) refuse(usage);
if (program !== undefined && !PROGRAMS.includes(program)) refuse(usage);
if (operator !== undefined) {
  const { error } = OperatorName.safeParse(operator);
  if (error) refuse(`--operator: ${error.issues[0]!.message}`);
}
const seed = newNkeySeed();
const user = operator === undefined ? { program: program! } : { operator };
console.log(
  [`seed        ${seed}`, `public key  ${nkeyOf(seed)}`, 'users.conf', linesOf(user, nkeyOf(seed))].join(
    '\n',
  ),
);

// `npm run nkey -- <user>`: a new NKEY of a user of the bus (docs/operations.md, Keys of the bus).
// The output contains its seed.
import { readCommandLine, refuse } from '../deploy/local/processes/command-line.ts';
import { newNkeySeed, nkeyOf } from '../shared/bus/nkey.ts';
import { natsRights } from '../shared/bus/topology.ts';
import { OperatorName } from '../shared/contract/service.ts';
import { linesOf } from './k8s/bus.ts';

const PROGRAMS = ['admin', ...Object.keys(natsRights())];
const USAGE = `Usage
  npm run nkey -- <process>
  npm run nkey -- --operator <name>

Prints a new seed, its public key, and the lines of users.conf by which nats-server lets it log in. The seed is a
secret: NATS_NKEY_SEED of the process, or of the operator's npm run ops.
Processes: ${PROGRAMS.join(', ')}.`;

const { values, positionals } = readCommandLine(USAGE, {
  options: { operator: { type: 'string' } },
  allowPositionals: true,
});
const { operator } = values;
const [program] = positionals;
if (positionals.length > 1 || (operator === undefined) === (program === undefined)) refuse(USAGE);
if (program !== undefined && !PROGRAMS.includes(program)) refuse(USAGE);
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

// Stops the children if the supervisor is killed (kill -9). The end of standard input means that
// the supervisor is gone. This is plain JavaScript without node_modules, so that it starts fast and
// does not depend on the project's own code.
// Lines on stdin: `+<pid> <signal>` adds a child with its stop signal, `-<pid>` removes it. argv[2]
// is the stack file. It is removed first, since it names processes that are about to stop.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning, killGroup, signal } from './process-identity.ts';

const stackFile = process.argv[2];
/**
 * @type {Map<number, { identity: import('./process-identity.ts').ProcessIdentity, stop:
 *   NodeJS.Signals }>}
 */
const children = new Map();

// Ctrl-C reaches the whole process group. The supervisor decides what to stop.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});

const remaining = () => [...children.values()].filter(({ identity }) => isRunning(identity));

async function wait(milliseconds) {
  const deadline = Date.now() + milliseconds;
  while (remaining().length > 0 && Date.now() < deadline) await sleep(50);
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [pidText, stop = 'SIGTERM'] = line.slice(1).split(' ');
    const pid = Number(pidText);
    if (line.startsWith('-')) return void children.delete(pid);
    const identity = identify(pid);
    if (identity) children.set(pid, { identity, stop });
  })
  .on('close', async () => {
    if (remaining().length > 0 && stackFile) rmSync(stackFile, { force: true });
    for (const { identity, stop } of remaining()) signal(identity.pid, stop);
    await wait(1500);
    // SIGQUIT is Postgres's immediate shutdown. The services have received SIGTERM before.
    for (const { identity } of remaining()) signal(identity.pid, 'SIGQUIT');
    await wait(2500);
    for (const { identity } of remaining()) signal(identity.pid, 'SIGKILL');
    for (const pid of children.keys()) killGroup(pid);
    process.exit(0);
  });

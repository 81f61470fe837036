// Stands by in case the supervisor dies without a word (kill -9): the end of our standard input is the
// news, and everything we were told about is then stopped. Plain JavaScript without node_modules, so
// that it starts fast and cannot fail for a reason of the project's own code.
//
// Lines on stdin: `+<pid> <signal>` a child lives and is stopped by this signal, `-<pid>` it is gone.
// argv[2]: the stack file, removed first, since it names processes that are about to stop.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning, killGroup, signal } from './process-identity.ts';

const stackFile = process.argv[2];
/** @type {Map<number, { identity: import('./process-identity.ts').ProcessIdentity, stop: NodeJS.Signals }>} */
const children = new Map();

// Ctrl-C reaches the whole terminal; the supervisor decides what happens then, not we.
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
    // Postgres's "immediate"; the services have had their chance.
    for (const { identity } of remaining()) signal(identity.pid, 'SIGQUIT');
    await wait(2500);
    for (const { identity } of remaining()) signal(identity.pid, 'SIGKILL');
    for (const pid of children.keys()) killGroup(pid);
    process.exit(0);
  });

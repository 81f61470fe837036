// Runs in a pod with the process ids of its node: `node … SIGNAL CONTAINER_ID` sends a signal to
// the first process of a container and prints its process id.
import { readdirSync, readFileSync } from 'node:fs';

const [signal, container] = process.argv.slice(-2);
const text = (pid, file) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // It has ended.
  }
};
const isFirst = (pid) => /^NSpid:.*\t1$/m.test(text(pid, 'status'));
const pid = readdirSync('/proc').find(
  (name) => /^\d+$/.test(name) && text(name, 'cgroup').includes(container) && isFirst(name),
);
if (pid === undefined) {
  console.error(`the node has no process of the container ${container}`);
  process.exit(1);
}
process.kill(Number(pid), signal);
console.log(pid);

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** What becomes of a message of the gate. */
export type Decision = 'pass' | 'drop';
type Watch = {
  /** A message has come from the gate, and is not sent yet. */
  asked: (label: string, chunk: Buffer) => Promise<Decision>;
  /** The answer has come, and is not sent yet. */
  answered: () => Promise<Decision>;
};

export const placeOf = (url: string): { host: string; port: number } => {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
};

/** What a message is, for a report: a call of the API, or the last command for the store. */
const labelOf = (bytes: Buffer): string => {
  const text = bytes.toString('latin1');
  const [, method, path] = /^(GET|POST) (\S+) HTTP/.exec(text) ?? [];
  if (path !== undefined) return `${method} ${path.replace(/(stl|q)_[0-9a-z]+/g, ':id')}`;
  const [, command] = /\$\d+\r\n([a-zA-Z]+)\r\n/.exec(text) ?? [];
  return `store ${command?.toLowerCase() ?? ''}`;
};

/**
 * A TCP relay between a gate and a server that it calls. Each message waits for what the watch
 * decides.
 */
export const startRelay = async (target: { host: string; port: number }, watch: Watch) => {
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket, decide: (chunk: Buffer) => Promise<Decision>): void => {
    let order = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      order = order.then(async () => {
        if ((await decide(chunk)) === 'pass') to.write(chunk);
      });
    });
    const end = () => void order.then(() => to.destroy());
    from.on('error', end).on('close', end);
  };
  const server = createServer((socket) => {
    const other = connect(target);
    for (const each of [socket, other]) {
      sockets.add(each);
      each.once('close', () => sockets.delete(each));
    }
    pass(socket, other, (chunk) => watch.asked(labelOf(chunk), chunk));
    pass(other, socket, () => watch.answered());
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

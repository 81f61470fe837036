import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The way to a server of ours, which a test breaks as networks and servers break it. */
export type TcpProxy = {
  port: number;
  /** Connections that were accepted so far. */
  accepted: () => number;
  /** Connections that are there now. */
  open: () => number;
  /** Ends every connection. */
  cut: () => void;
  /** True: connections are accepted and kept, nothing passes. False: what was held up passes. */
  freeze: (frozen: boolean) => void;
  /** True: the server's greeting passes, and the connection ends with the client's first word. */
  greetOnly: (only: boolean) => void;
  stop: () => void;
};

/** Listens on a free port of 127.0.0.1, for the server on another of its ports. */
export const startProxy = async (serverPort: number): Promise<TcpProxy> => {
  const sockets = new Set<Socket>();
  let accepted = 0;
  let frozen = false;
  let greeting = false;
  const joined = (from: Socket, to: Socket): Socket => {
    sockets.add(from);
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    return frozen ? from.pause() : from;
  };
  const server = createServer((client) => {
    accepted += 1;
    const upstream = connect(serverPort, '127.0.0.1');
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => (greeting ? client.destroy() : upstream.write(bytes)));
    joined(client, upstream);
    joined(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    open: () => sockets.size / 2,
    cut,
    freeze: (now) => {
      frozen = now;
      for (const socket of sockets) frozen ? socket.pause() : socket.resume();
    },
    greetOnly: (only) => {
      greeting = only;
    },
    stop: () => {
      server.close();
      cut();
    },
  };
};

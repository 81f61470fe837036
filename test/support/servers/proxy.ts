import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy to a local server, which a test breaks as networks and servers break. */
export type TcpProxy = {
  port: number;
  /** Connections that were accepted so far. */
  accepted: () => number;
  /** Connections that are open now. */
  open: () => number;
  /** Ends every connection. */
  cut: () => void;
  /** True: connections are accepted and stay open, and no bytes pass. False: delayed bytes pass. */
  freeze: (frozen: boolean) => void;
  /** True: the server's greeting passes, and the connection ends with the client's first bytes. */
  greetOnly: (only: boolean) => void;
  stop: () => void;
};

/** Listens on a port of 127.0.0.1, by default a free one, for the server on another port. */
export const startProxy = async (serverPort: number, port = 0): Promise<TcpProxy> => {
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
  server.listen(port, '127.0.0.1');
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

import { connect, createServer, type Socket } from 'node:net';

/** `open`: bytes pass; `cut`: connections end and new ones fail; `silent`: bytes are dropped. */
type LinkState = 'open' | 'cut' | 'silent';

export type Link = {
  port: number;
  set: (state: LinkState) => void;
  /** Whether connections to the server are open. */
  isConnected: () => boolean;
  /** How often the link has dropped bytes while it was silent. */
  swallowed: () => number;
  stop: () => Promise<void>;
};

/** Starts a link to a local server that a test can cut or silence. */
export const startLink = async (targetPort: number): Promise<Link> => {
  const sockets = new Set<Socket>();
  let state: LinkState = 'open';
  let swallowed = 0;
  const server = createServer((inner) => {
    if (state === 'cut') return void inner.destroy();
    const outer = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (state === 'silent') swallowed += 1;
        else to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    isConnected: () => sockets.size > 0,
    swallowed: () => swallowed,
    set: (next) => {
      state = next;
      if (next === 'cut') for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

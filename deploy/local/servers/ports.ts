import { createServer } from 'node:net';

export type PortPicker = {
  /** `preferred` or the next free port above it. */
  from: (preferred: number) => Promise<number>;
  /** Any free port. */
  any: () => Promise<number>;
  /**
   * Two consecutive ports, the lower one: web3.js 1.x expects the WebSocket on the port after the
   * RPC's.
   */
  pairFrom: (preferred: number) => Promise<number>;
  anyPair: () => Promise<number>;
};

/**
 * Finds free ports on 127.0.0.1 and returns none twice, because the processes that will use them do
 * not listen yet. Another program may still take a port in the meantime. The caller then starts
 * again.
 */
export function createPortPicker(): PortPicker {
  const given = new Set<number>();
  const take = async (port: number): Promise<boolean> => {
    if (port > 65535 || given.has(port) || !(await isFree(port))) return false;
    given.add(port);
    return true;
  };
  const from = async (preferred: number): Promise<number> => {
    for (let port = preferred; ; port++) if (await take(port)) return port;
  };
  const pairFrom = async (preferred: number): Promise<number> => {
    for (let port = preferred; ; port++) {
      if (!(await take(port))) continue;
      if (await take(port + 1)) return port;
      given.delete(port);
    }
  };
  const any = async (): Promise<number> => {
    for (;;) {
      const port = await freePort();
      if (!given.has(port)) {
        given.add(port);
        return port;
      }
    }
  };
  const anyPair = async (): Promise<number> => {
    for (;;) {
      const port = await any();
      if (await take(port + 1)) return port;
    }
  };
  return { from, pairFrom, any, anyPair };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** Also on all addresses, because another server on 0.0.0.0 would get some of our requests. */
async function isFree(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, host, () => server.close(() => resolve(true)));
    });
    if (!free) return false;
  }
  return true;
}

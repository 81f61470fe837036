import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/**
 * Ports for servers that a test starts. They lie below the ports that systems give to outgoing
 * connections (Linux from 32768, others from 49152): a client that calls a server before it listens
 * would otherwise take the server's own port now and then.
 */
const FIRST_PORT = 11_000;
const LAST_PORT = 32_000;

/** Longer than a server takes from the choice of its port until it listens. */
const CLAIM_MS = 120_000;

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
 * not listen yet. It passes over the ports that another process of ours chose. `any` and `anyPair`
 * also pass over those of other pickers of this process; `from` and `pairFrom` do not, so that a
 * stack that starts again keeps its ports.
 */
export function createPortPicker(): PortPicker {
  const given = new Set<number>();
  const take = async (port: number): Promise<boolean> => {
    if (port > 65535 || given.has(port) || !(await isFree(port))) return false;
    given.add(port);
    return true;
  };
  const from = async (preferred: number): Promise<number> => {
    for (let port = preferred; ; port++) if ((await take(port)) && (await claim(port, true))) return port;
  };
  const pairFrom = async (preferred: number): Promise<number> => {
    for (let port = preferred; ; port++) {
      const lower = await from(port);
      if ((await take(lower + 1)) && (await claim(lower + 1, true))) return lower;
      port = lower;
    }
  };
  const any = async (): Promise<number> => {
    for (;;) {
      const port = randomInt(FIRST_PORT, LAST_PORT);
      if ((await take(port)) && (await claim(port))) return port;
    }
  };
  const anyPair = async (): Promise<number> => {
    for (;;) {
      const port = await any();
      if ((await take(port + 1)) && (await claim(port + 1))) return port;
    }
  };
  return { from, pairFrom, any, anyPair };
}

/** The ports that this process has claimed. */
const claimed = new Set<number>();

/**
 * Claims a TCP port among our own processes by a UDP socket of the same number. The system frees it
 * when this process ends.
 * @param orOurs true also if this process has claimed it before
 */
function claim(port: number, orOurs = false): Promise<boolean> {
  if (claimed.has(port)) return Promise.resolve(orOurs);
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      claimed.add(port);
      socket.unref().once('close', () => claimed.delete(port));
      setTimeout(() => socket.close(), CLAIM_MS).unref();
      resolve(true);
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

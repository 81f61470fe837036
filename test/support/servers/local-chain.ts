import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  SystemProgram,
  Transaction,
} from '@solana/web3.js';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { type ChainProgram, writePrograms } from './chain-programs.ts';

const MAIN = fileURLToPath(new URL('../../../deploy/local/chain/main.ts', import.meta.url));

type RpcAnswer = {
  id: unknown;
  result: never;
  error?: { code: number; message: string; data: Record<string, unknown> };
};

const newFolder = () => {
  const path = mkdtempSync(join(tmpdir(), 'chain-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

/** Starts the real process on free ports and waits until it answers. */
export const startChain = async ({
  slotMs = 20,
  control = true,
  dataDir,
  genesisMint,
  programs = [],
  nodeArguments = [],
}: {
  slotMs?: number;
  control?: boolean;
  /** A folder of the caller, which `remove` keeps. */
  dataDir?: string;
  /** `<mint>:<mint authority>` of a new chain. */
  genesisMint?: string;
  /** Programs beside those of LiteSVM: their ids, and their ELF. */
  programs?: readonly ChainProgram[];
  nodeArguments?: readonly string[];
} = {}) => {
  const picker = createPortPicker();
  const port = await picker.anyPair();
  const scenariosPort = genesisMint ? await picker.anyPair() : undefined;
  const folder = dataDir ? { path: dataDir, remove: () => {} } : newFolder();
  const written = writePrograms(folder.path, programs);
  const child: ChildProcess = spawn(process.execPath, [...nodeArguments, MAIN], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CHAIN_PORT: String(port),
      CHAIN_DATA_DIR: folder.path,
      CHAIN_SLOT_MS: String(slotMs),
      CHAIN_CONTROL: control ? '1' : '0',
      ...(written !== '' && { CHAIN_PROGRAMS: written }),
      ...(genesisMint && { CHAIN_GENESIS_MINT: genesisMint, CHAIN_SCENARIOS_PORT: String(scenariosPort) }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('"ready"')) resolve();
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.once('exit', () => reject(new Error(`the chain did not start: ${output}`)));
  }).catch((error: unknown) => {
    folder.remove();
    throw error;
  });

  const connections: Connection[] = [];
  const url = `http://127.0.0.1:${port}`;
  const postTo = (target: string) => async (body: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(target, {
      method: 'POST',
      headers,
      body: text,
      // An advance executes every waiting transaction, of which one test sends a thousand.
      signal: AbortSignal.timeout(20_000),
    });
    return (await response.json()) as unknown;
  };
  const rawAt =
    (target: string) =>
    async (method: string, ...params: unknown[]): Promise<RpcAnswer> =>
      (await postTo(target)({ jsonrpc: '2.0', id: 1, method, params })) as RpcAnswer;
  const raw = rawAt(url);

  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    dataDir: folder.path,
    output: () => output,
    /** A client that reads at the commitment confirmed. */
    connection: () => {
      const connection = new Connection(url, 'confirmed');
      connections.push(connection);
      return connection;
    },
    /** web3.js cannot close its WebSocket and reconnects for ever. */
    closeSockets: () => {
      for (const one of connections) {
        type Socket = { setAutoReconnect(on: boolean): void; close(): void };
        const { _rpcWebSocket: socket } = one as unknown as { _rpcWebSocket: Socket };
        socket.setAutoReconnect(false);
        socket.close();
      }
    },
    post: postTo(url),
    /** One JSON-RPC call. Returns the answer unchanged. */
    raw,
    /** The same at the port with the scenarios, which a chain with a genesis mint has. */
    rawWithScenarios: rawAt(`http://127.0.0.1:${scenariosPort}`),
    /** One JSON-RPC call that must succeed. */
    call: async <Result = never>(method: string, ...params: unknown[]): Promise<Result> => {
      const answer = await raw(method, ...params);
      if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
      return answer.result;
    },
    stop: async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
      child.kill(signal);
      return await exited;
    },
    remove: folder.remove,
  };
};
export type TestChain = Awaited<ReturnType<typeof startChain>>;

/** A new key with 10 SOL, confirmed. */
export const newPayer = async (chain: TestChain): Promise<Keypair> => {
  const payer = Keypair.generate();
  await chain.call('requestAirdrop', payer.publicKey.toBase58(), 10 * LAMPORTS_PER_SOL);
  await chain.call('chain_advance', 1);
  return payer;
};

/** A signed transfer on a confirmed blockhash. */
export const signedTransfer = async (
  chain: TestChain,
  from: Keypair,
  to: PublicKey,
  lamports: number,
): Promise<Transaction> => {
  const { value } = await chain.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'confirmed',
  });
  const transaction = new Transaction({ feePayer: from.publicKey, recentBlockhash: value.blockhash }).add(
    SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports }),
  );
  transaction.sign(from);
  return transaction;
};

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

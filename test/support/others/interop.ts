import { execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { inherited } from '../base/inherited.ts';
import { waitFor } from '../base/wait.ts';

/**
 * Programs of unmodified third-party packages. Each folder of test/interop has its packages in a
 * lock file of its own, and its programs run as separate processes.
 */
const ROOT = path.resolve(import.meta.dirname, '../../..');
const INSTALL = path.join(ROOT, 'deploy/local/setup/locked-folder.mjs');
const PROGRAMS = {
  'vendor-express': 'x402/vendor-express.mjs',
  'vendor-hono': 'x402/vendor-hono.mjs',
  'vendors-express': 'x402/vendors-express.mjs',
  'reference-facilitator': 'x402/reference-facilitator.mjs',
  'scripted-facilitator': 'x402/scripted-facilitator.mjs',
  buyer: 'x402/buyer.mjs',
  signer: 'x402/signer.mjs',
  'buyer-v1': 'x402-v1/buyer.mjs',
  'vendor-mpp': 'mpp/vendor.mjs',
  'buyer-mpp': 'mpp/buyer.mjs',
  'validate-mpp': 'mpp/validate.mjs',
  'client-mcp-v1': 'mcp/client-v1.mjs',
} as const;
type ProgramName = keyof typeof PROGRAMS;

/** How long a program may take to load its packages. One that cannot start ends sooner. */
const START_MS = 120_000;
/** How long an installation may take, for the time limits of the tests that need one. */
export const INSTALL_MS = 300_000;

/** A program that answers requests until it is stopped. */
export type InteropServer = {
  url: string;
  /** Deliveries of a vendor so far. */
  delivered: () => number;
  /** Its output so far, for the message of a failed test. */
  output: () => string;
  stop: (signal?: NodeJS.Signals) => Promise<void>;
};

/** One payment of a buyer. `status` is null if the client threw `error`. */
type InteropResult = {
  index: number;
  ms: number;
  status: number | null;
  body?: unknown;
  receipt?: Record<string, unknown> | null;
  error?: string;
};

type Line = Record<string, unknown>;

const installed = new Map<string, Promise<string>>();

const install = async (folder: string): Promise<string> => {
  await promisify(execFile)(process.execPath, [INSTALL, folder], { timeout: INSTALL_MS }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`the packages of ${folder} could not be installed: ${stdout}${stderr}`);
    },
  );
  return folder;
};

/**
 * Installs the packages of a folder of test/interop, if that has not been done, and returns its
 * path.
 * @throws with the messages of npm, so that the test fails and is not skipped
 */
export const installInterop = (name: string): Promise<string> => {
  const folder = path.join(ROOT, 'test/interop', name);
  // A failure is final for this process: npm's repetitions have taken minutes.
  if (!installed.has(folder)) installed.set(folder, install(folder));
  return installed.get(folder)!;
};

/** Starts a program and reads the lines that it prints. */
const start = async (name: ProgramName, settings: object) => {
  const [folder, file] = PROGRAMS[name].split('/') as [string, string];
  const program = path.join(await installInterop(folder), file);
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    env: inherited,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: Line[] = [];
  let output = '';
  createInterface({ input: child.stdout }).on('line', (text) => {
    output += `${text}\n`;
    if (text.startsWith('{')) lines.push(JSON.parse(text) as Line);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  // The end of the output, not of the process: the last lines arrive after the exit.
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let code: number | null | undefined;
  void ended.then((given) => {
    code = given;
  });
  await waitFor(
    () => lines.length > 0 || code !== undefined,
    (seen) => seen,
    START_MS,
  );
  if (lines.length === 0) throw new Error(`${name} ended with ${code} before it was ready: ${output}`);
  return { child, lines, output: () => output, ended };
};

/**
 * Starts a server: a vendor or a facilitator.
 * @param settings as the program's file names them
 */
export const startInterop = async (name: ProgramName, settings: object): Promise<InteropServer> => {
  const { child, lines, output, ended } = await start(name, settings);
  return {
    url: lines[0]!.url as string,
    delivered: () => lines.filter((line) => 'delivered' in line).length,
    output,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended;
    },
  };
};

/**
 * Runs a program to its end: a buyer or a signer.
 * @returns its lines without the first, in the order of their index
 * @throws with its output if it fails as a whole
 */
export const runInterop = async <Result = InteropResult>(
  name: ProgramName,
  settings: object,
): Promise<Result[]> => {
  const { lines, output, ended } = await start(name, settings);
  const code = await ended;
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${output()}`);
  return lines.slice(1).sort((a, b) => Number(a.index) - Number(b.index)) as Result[];
};

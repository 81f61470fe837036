import { z } from 'zod';
import type { GenesisMint } from './chain.ts';

const port = z.coerce.number().int().min(1).max(65_534);

const schema = z.object({
  CHAIN_PORT: port.default(8899),
  CHAIN_SCENARIOS_PORT: port.optional(),
  CHAIN_HOST: z.string().min(1).default('127.0.0.1'),
  CHAIN_DATA_DIR: z.string().min(1).default('.local/chain'),
  CHAIN_SLOT_MS: z.coerce.number().int().min(0).max(60_000).default(400),
  CHAIN_SEED: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  CHAIN_GENESIS_MINT: z
    .string()
    .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}:[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'expected <mint>:<mint authority>')
    .optional(),
  CHAIN_PROGRAMS: z
    .string()
    .regex(
      /^([1-9A-HJ-NP-Za-km-z]{32,44}:[^,]+)(,[1-9A-HJ-NP-Za-km-z]{32,44}:[^,]+)*$/,
      'expected <id>:<file>,…',
    )
    .optional(),
  CHAIN_CONTROL: z.enum(['0', '1']).default('0'),
});
const checked = schema.refine(
  ({ CHAIN_SCENARIOS_PORT, CHAIN_GENESIS_MINT }) =>
    CHAIN_SCENARIOS_PORT === undefined || CHAIN_GENESIS_MINT !== undefined,
  {
    path: ['CHAIN_SCENARIOS_PORT'],
    message: 'requires CHAIN_GENESIS_MINT, whose transfers play the scenarios',
  },
);

type Config = {
  /** HTTP and WebSocket. Port + 1 is used too, because web3.js 1.x expects the WebSocket there. */
  port: number;
  /** The same chain with the scenarios of `scenarios/amounts.ts`, on this port and the next one. */
  scenariosPort: number | undefined;
  host: string;
  dataDir: string;
  /**
   * The seed of a new chain, which makes its genesis hash known before it runs. Default: random.
   */
  seed: string | undefined;
  /** A token mint that a new chain has from its genesis on. */
  genesisMint: GenesisMint | undefined;
  /** Programs beside those of LiteSVM: their ids, and the files of their ELF. */
  programs: readonly { id: string; file: string }[];
  /** Milliseconds per slot; 0 confirms at once, see `createLedger`. */
  slotMs: number;
  /** Whether the `chain_…` methods exist. */
  control: boolean;
};

/**
 * Reads the settings of the chain process.
 *
 * @throws ZodError with the name of the invalid variable.
 */
export const readConfig = (env: Record<string, string | undefined>): Config => {
  const parsed = checked.parse(env);
  const [address, authority] = parsed.CHAIN_GENESIS_MINT?.split(':') ?? [];
  return {
    port: parsed.CHAIN_PORT,
    scenariosPort: parsed.CHAIN_SCENARIOS_PORT,
    host: parsed.CHAIN_HOST,
    dataDir: parsed.CHAIN_DATA_DIR,
    seed: parsed.CHAIN_SEED,
    genesisMint: address && authority ? { address, authority } : undefined,
    programs: (parsed.CHAIN_PROGRAMS?.split(',') ?? []).map((text) => {
      const [id, ...file] = text.split(':');
      return { id: id!, file: file.join(':') };
    }),
    slotMs: parsed.CHAIN_SLOT_MS,
    control: parsed.CHAIN_CONTROL === '1',
  };
};

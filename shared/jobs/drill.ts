// A job that proves the newest copy of the job `backup`: it restores it into a scratch database,
// counts its rows, and compares its newest payments with the chain (docs/operations.md, Backup).
import { z } from 'zod';
import { rpcUrlsIn } from '../backup/chain.ts';
import { drill } from '../backup/drill.ts';
import { recorded } from '../backup/runs.ts';
import { loadDatabases } from '../db/databases.ts';
import { loadConfig } from '../lib/config.ts';

const databases = loadDatabases();
const { BACKUPS_FOLDER, SOLANA_RPC_URLS } = loadConfig(
  z.object({
    BACKUPS_FOLDER: z.string().min(1),
    /** Providers of the chain, comma separated. Without one the chain is not asked. */
    SOLANA_RPC_URLS: z.string().default(''),
  }),
);

const rpcUrls = rpcUrlsIn(SOLANA_RPC_URLS);
try {
  const drilled = await recorded(databases, 'drill', () => drill(databases, BACKUPS_FOLDER, { rpcUrls }));
  console.log(JSON.stringify({ msg: 'the newest copy was restored and compared', ...drilled }));
} catch (error) {
  console.error(JSON.stringify({ msg: `the newest copy is no good: ${(error as Error).message}` }));
  process.exitCode = 1;
}

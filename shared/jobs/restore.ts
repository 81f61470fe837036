// A job that replaces the data of one environment by a copy that the job `backup` wrote. Services
// must be stopped (docs/operations.md, Backup).
import { z } from 'zod';
import { folderOfCopy } from '../backup/copies.ts';
import { restore } from '../backup/restore.ts';
import { restoreFields } from '../contract/operator.ts';
import { loadDatabases } from '../db/databases.ts';
import { loadConfig } from '../lib/config.ts';
import { Refusal } from '../lib/refusal.ts';

const databases = loadDatabases();
const { SOLANA_RPC_URLS, BACKUPS_FOLDER, BACKUP, ACTOR, REASON } = loadConfig(
  z.object({
    /** Every provider that chain-submitter uses, comma separated. */
    SOLANA_RPC_URLS: z.string().min(1),
    BACKUPS_FOLDER: z.string().min(1),
    /** The name of the copy. */
    BACKUP: z.string(),
    ACTOR: restoreFields.actor,
    REASON: restoreFields.reason,
  }),
);

const say = (line: string): void => console.log(JSON.stringify({ msg: line.trim() }));
try {
  const done = await restore(databases, folderOfCopy(BACKUPS_FOLDER, BACKUP), {
    rpcUrls: SOLANA_RPC_URLS.split(',').map((url) => url.trim()),
    signed: { actor: ACTOR, reason: REASON },
    print: say,
  });
  console.log(JSON.stringify({ msg: 'restored, signing is paused', copy: BACKUP, ...done }));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  say(error.message);
  process.exitCode = 64; // EX_USAGE of sysexits.h
}

// A job that replaces the data of one environment by a copy that the job `backup` wrote; or, with
// TAKEN_AT, finishes what another tool has restored. Services must be stopped (docs/operations.md,
// Backup).
import { z } from 'zod';
import { rpcUrlsIn } from '../backup/chain.ts';
import { folderOfCopy } from '../backup/copies.ts';
import { finishRestore, planFinish, restore } from '../backup/restore.ts';
import { restoreFields } from '../contract/operator.ts';
import { loadDatabases } from '../db/databases.ts';
import { loadConfig } from '../lib/config.ts';
import { Refusal } from '../lib/refusal.ts';

const databases = loadDatabases();
const { SOLANA_RPC_URLS, BACKUPS_FOLDER, BACKUP, TAKEN_AT, ACTOR, REASON } = loadConfig(
  z.object({
    /** Every provider that chain-submitter uses, comma separated. */
    SOLANA_RPC_URLS: z.string().min(1),
    BACKUPS_FOLDER: z.string().default(''),
    /** The name of the copy. */
    BACKUP: z.string().default(''),
    /** The time of the state that another tool has restored, or `last-check`. */
    TAKEN_AT: z.union([z.literal('last-check'), z.literal(''), z.iso.datetime({ offset: true })]).default(''),
    ACTOR: restoreFields.actor,
    REASON: restoreFields.reason,
  }),
);

const say = (line: string): void => console.log(JSON.stringify({ msg: line.trim() }));
const run = {
  rpcUrls: rpcUrlsIn(SOLANA_RPC_URLS),
  signed: { actor: ACTOR, reason: REASON },
  print: say,
};
const finish = async () => {
  const plan = await planFinish(databases, TAKEN_AT === 'last-check' ? null : new Date(TAKEN_AT));
  return { msg: 'restore finished, signing is paused', ...(await finishRestore(databases, plan, run)) };
};
const copyBack = async () => {
  const done = await restore(databases, folderOfCopy(BACKUPS_FOLDER, BACKUP), run);
  return { msg: 'restored, signing is paused', copy: BACKUP, ...done };
};
try {
  console.log(JSON.stringify(await (TAKEN_AT === '' ? copyBack() : finish())));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  say(error.message);
  process.exitCode = 64; // EX_USAGE of sysexits.h
}

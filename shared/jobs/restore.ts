// A job that replaces the data of one environment by a copy that the job `backup` wrote. Services
// must be stopped (docs/operations.md, Backup).
import { z } from 'zod';
import { folderOfCopy } from '../backup/copies.ts';
import { restore } from '../backup/restore.ts';
import { restoreFields } from '../contract/operator.ts';
import { commonConfig, loadConfig } from '../lib/config.ts';
import { Refusal } from '../lib/refusal.ts';
import { databaseUrlWithTls } from '../lib/transport.ts';

const { POSTGRES_ADMIN_URL, SOLANA_RPC_URLS, BACKUPS_FOLDER, BACKUP, ACTOR, REASON, TLS_CA_FILE } =
  loadConfig(
    z.object({
      /** A superuser of the environment's migrated database. */
      POSTGRES_ADMIN_URL: z.url({ protocol: /^postgres(ql)?$/ }),
      TLS_CA_FILE: commonConfig.TLS_CA_FILE,
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
  const url = databaseUrlWithTls(POSTGRES_ADMIN_URL, TLS_CA_FILE);
  const done = await restore(url, folderOfCopy(BACKUPS_FOLDER, BACKUP), {
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

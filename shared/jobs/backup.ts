// A job that writes a copy of one environment's database, all schemas as of one moment, while the
// services run (docs/operations.md, Backup).
import { z } from 'zod';
import { addCopy } from '../backup/copies.ts';
import { refuseTooLarge } from '../backup/fit.ts';
import { recorded } from '../backup/runs.ts';
import { loadDatabases } from '../db/databases.ts';
import { loadConfig } from '../lib/config.ts';
import { Refusal } from '../lib/refusal.ts';

const databases = loadDatabases();
const { BACKUPS_FOLDER, BACKUPS_KEPT, BACKUP_DEADLINE_SECONDS } = loadConfig(
  z.object({
    /** An existing folder. It holds a folder for each copy. */
    BACKUPS_FOLDER: z.string().min(1),
    /** The number of copies that remain. */
    BACKUPS_KEPT: z.coerce.number().int().min(1).max(1000).default(14),
    /** When whoever runs this job ends it. A copy that needs longer is refused at once. */
    BACKUP_DEADLINE_SECONDS: z.coerce.number().int().min(1).optional(),
  }),
);

try {
  const written = await recorded(databases, 'backup', async () => {
    await refuseTooLarge(databases, BACKUPS_FOLDER, BACKUP_DEADLINE_SECONDS ?? null);
    return addCopy(databases, BACKUPS_FOLDER, { keep: BACKUPS_KEPT });
  });
  console.log(JSON.stringify({ msg: 'backup written', ...written }));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(JSON.stringify({ msg: error.message }));
  process.exitCode = 64; // EX_USAGE of sysexits.h
}

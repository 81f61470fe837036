// A job that writes a copy of one environment's database, all schemas as of one moment, while the
// services run (docs/operations.md, Backup).
import { z } from 'zod';
import { addCopy } from '../backup/copies.ts';
import { commonConfig, loadConfig } from '../lib/config.ts';
import { Refusal } from '../lib/refusal.ts';
import { databaseUrlWithTls } from '../lib/transport.ts';

const { POSTGRES_ADMIN_URL, BACKUPS_FOLDER, BACKUPS_KEPT, TLS_CA_FILE } = loadConfig(
  z.object({
    /** A superuser, or a role that may read the schemas of all services. */
    POSTGRES_ADMIN_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    TLS_CA_FILE: commonConfig.TLS_CA_FILE,
    /** An existing folder. It holds a folder for each copy. */
    BACKUPS_FOLDER: z.string().min(1),
    /** The number of copies that remain. */
    BACKUPS_KEPT: z.coerce.number().int().min(1).max(1000).default(14),
  }),
);

try {
  const url = databaseUrlWithTls(POSTGRES_ADMIN_URL, TLS_CA_FILE);
  const written = await addCopy(url, BACKUPS_FOLDER, { keep: BACKUPS_KEPT });
  console.log(JSON.stringify({ msg: 'backup written', ...written }));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(JSON.stringify({ msg: error.message }));
  process.exitCode = 64; // EX_USAGE of sysexits.h
}

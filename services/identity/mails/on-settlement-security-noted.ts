import type { z } from 'zod';
import type { SecurityNote } from '../../../shared/contract/identity/security-note.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertNotice } from './store.ts';

/** Records what a service has noted for the owner of an account, and mails it. */
export const securityNoted =
  ({ pool, sendMailsNow }: { pool: Pool; sendMailsNow: () => void }) =>
  async (note: z.infer<typeof SecurityNote>): Promise<void> => {
    await pool.transaction((tx) => insertNotice(tx, note));
    sendMailsNow();
  };

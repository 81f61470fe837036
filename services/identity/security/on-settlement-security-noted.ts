import type { z } from 'zod';
import type { SecurityNote } from '../../../shared/contract/identity/security-note.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertNotice } from '../mails/store.ts';
import { isAlwaysMailed } from './kinds.ts';

/** Records what a service has noted for the owner of an account, and mails it. */
export const securityNoted =
  ({ pool, pokeMails }: { pool: Pool; pokeMails: () => void }) =>
  async ({ security_event_id, ...note }: z.infer<typeof SecurityNote>): Promise<void> => {
    const always = isAlwaysMailed(note);
    await pool.transaction((tx) => insertNotice(tx, { ...note, security_event_id, always }));
    pokeMails();
  };

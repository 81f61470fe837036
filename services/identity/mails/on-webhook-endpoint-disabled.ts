import type { z } from 'zod';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Deps } from '../deps.ts';
import { insertNotice } from './store.ts';

/**
 * Mails the owner of an endpoint that gets nothing any more. No setting turns it off: what would
 * have been sent there is missed. An event that comes twice mails twice, which harms nobody.
 */
export const endpointDisabled =
  ({ pool, pokeMails }: Pick<Deps, 'pool' | 'pokeMails'>) =>
  async ({ account_id, ...details }: z.infer<typeof webhook.events.endpointDisabled>): Promise<void> => {
    await insertNotice(pool, { account_id, kind: 'webhook_disabled', details, always: true });
    pokeMails();
  };

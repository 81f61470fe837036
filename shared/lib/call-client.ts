import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from '../contract/client.ts';

const active = new AsyncLocalStorage<Client | null>();

/** Runs the work of a call, whose security events name from where it came. */
export const withClient = <T>(client: Client | null, work: () => T): T => active.run(client, work);

/** From where the active call came. Null: not from outside, or from an older gateway. */
export const clientOfCall = (): Client | null => active.getStore() ?? null;

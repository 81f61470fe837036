import { useRead } from '../lib/data.ts';

/** The key of every read of approvals. A decision reads them again. */
export const APPROVALS = ['approvals'] as const;

/** How often the number is read. The owner has some minutes, and is mailed too. */
const EVERY_MS = 20_000;

/** How many payments wait for the owner. 0 while it is unknown. */
export const useWaitingCount = (): number =>
  useRead(
    [...APPROVALS, 'count'],
    async (client, options) =>
      (await client.settlement.listApprovals({ status: 'awaiting_approval', limit: '100' }, options)).data
        .length,
    { every: EVERY_MS },
  ).data ?? 0;

import { useRead } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';

/** The key of every read of approvals. A decision reads them again. */
export const APPROVALS = ['approvals'] as const;

/** How often the number is read. The owner has some minutes, and is mailed too. */
const EVERY_MS = 20_000;

/** How many payments wait for the owner. 0 while it is unknown. */
export const useWaitingCount = (): number => {
  const { status } = useSession();
  const { data } = useRead(
    [...APPROVALS, 'count'],
    async (client, options) =>
      (await client.settlement.listApprovals({ status: 'awaiting_approval', limit: '100' }, options)).data
        .length,
    { every: EVERY_MS, enabled: status === 'signed-in' },
  );
  return data ?? 0;
};

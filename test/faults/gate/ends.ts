import type { Access } from '../access.ts';
import { until } from '../recovery.ts';

const OPEN = "('pending', 'authorized', 'capturing')";

/** Waits until nothing that a service was paid or authorized is undecided. */
export const untilEnded = (query: Access['query'], serviceId: string, deadline: number): Promise<unknown> =>
  until(deadline, async () => {
    const [row] = await query<{ open: number }>(
      `select count(*)::int as open from settlement.settlements where service_id = $1
         and (status in ${OPEN} or chain_status = 'pending')`,
      [serviceId],
    );
    return row!.open === 0;
  });

/** Ends what is authorized and left over of a service, and waits until its payments are decided. */
export const endAll = async (query: Access['query'], serviceId: string, deadline: number): Promise<void> => {
  await query(
    `update settlement.authorizations as a set due_at = now() from settlement.settlements as s
     where s.settlement_id = a.settlement_id and s.service_id = $1 and a.due_at is not null`,
    [serviceId],
  );
  await untilEnded(query, serviceId, deadline);
};

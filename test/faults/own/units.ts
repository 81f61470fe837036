import type { Api } from '../../../deploy/local/seed/api.ts';
import type { Asked, Attempt, ClientLog, Delivery } from './client-log.ts';

type ConsumedBody = {
  units_consumed?: number;
  units_remaining?: number;
  error?: { code: string };
};
export const consumedIn = ({ body }: { body: unknown }): ConsumedBody => (body ?? {}) as ConsumedBody;

/** The calls of vendors that count deliveries, which their log records. */
export const createUnitCalls = (
  { deliveries }: Pick<ClientLog, 'deliveries'>,
  {
    api,
    asked,
  }: {
    api: Api;
    asked: (what: string, ask: () => Promise<{ status: number; body: unknown }>) => Promise<Asked>;
  },
) => ({
  /** A delivery that a vendor wants to count. */
  beginDelivery: (attempt: Attempt, units: number): Delivery => {
    const delivery = { attempt, requestId: crypto.randomUUID(), units, answers: [] };
    deliveries.push(delivery);
    return delivery;
  },
  /** Counts a delivery once, or repeats the call. True when the answer is final. */
  consume: async ({ attempt, requestId, units, answers }: Delivery): Promise<boolean> => {
    const { settlementId, token: settlement_token, vendor } = attempt;
    const answer = await asked('consume', () =>
      api(`POST /v1/settlements/${settlementId}/consume`, {
        token: vendor.apiKey,
        body: { settlement_token, request_id: requestId, units },
      }),
    );
    answers.push(answer);
    return answer.status !== null && answer.status < 500;
  },
});

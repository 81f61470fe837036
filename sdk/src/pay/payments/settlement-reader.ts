import { boundedMap } from '../../bounded-map.ts';
import { NotFoundError } from '../../generated/errors.ts';
import type { ReadSettlement } from '../../settle.ts';
import type { Output } from '../../types.ts';
import { sleep } from '../../wait.ts';

type Shown = Pick<
  Output<'settlement.get'>,
  'status' | 'chain_status' | 'units_remaining' | 'redeemed_at' | 'authorization'
>;

/** How long units can be consumed after the first one. */
const CONSUMABLE_MS = 30 * 86_400_000;
/**
 * How long the payer has to present a settlement, and how often its status is read meanwhile.
 */
const PAYER_PRESENTS_MS = 5000;
const POLL_MS = 1000;
const MAX_CLOSED = 1000;

const isOpen = ({ status, chain_status, units_remaining, redeemed_at, authorization }: Shown): boolean => {
  if (authorization !== undefined) return status === 'authorized' && authorization.left !== '0';
  if (chain_status === 'failed' || units_remaining === 0) return false;
  if (status === 'issued' || status === 'pending') return true;
  return (
    status === 'redeemed' && redeemed_at !== null && Date.now() - Date.parse(redeemed_at) < CONSUMABLE_MS
  );
};

/** Reads the status of settlements that a vendor does not accept. */
export const createSettlementReader = (read: ReadSettlement) => {
  /** Settlements that are used up. Each is read once, however many calls need it. */
  const closed = boundedMap<true>(MAX_CLOSED);
  const asking = new Map<string, Promise<boolean>>();

  const ask = async (settlement_id: string): Promise<boolean> => {
    let open: boolean;
    try {
      open = isOpen(await read({ settlement_id }, {}));
    } catch (error) {
      // NotFoundError: another key has paid it. After any other error the state is unknown, so
      // nothing more is bought.
      open = !(error instanceof NotFoundError);
    }
    if (!open) closed.set(settlement_id, true);
    return open;
  };

  return {
    /** True if a prepaid settlement has units for further requests. */
    hasUnits: async (settlementId: string): Promise<boolean> => {
      if (closed.has(settlementId)) return false;
      const asked = asking.get(settlementId) ?? ask(settlementId).finally(() => asking.delete(settlementId));
      asking.set(settlementId, asked);
      return asked;
    },

    /**
     * True if the vendor has taken nothing of a settlement, false if it has. Null: the API does not
     * say.
     */
    isUntouched: async (settlement_id: string): Promise<boolean | null> => {
      try {
        return (await read({ settlement_id }, {})).redeemed_at == null;
      } catch {
        return null;
      }
    },

    /** True if an authorization has ended without a payment. */
    isVoid: async (settlement_id: string): Promise<boolean> => {
      try {
        return (await read({ settlement_id }, {})).status === 'voided';
      } catch {
        return false;
      }
    },

    /** Waits a few seconds for the payer of a settlement to present it to the vendor. */
    untilRedeemed: async (settlement_id: string, signal?: AbortSignal): Promise<void> => {
      const until = Date.now() + PAYER_PRESENTS_MS;
      while (Date.now() < until) {
        const { status } = await read({ settlement_id }, signal === undefined ? {} : { signal });
        if (status !== 'issued') return;
        await sleep(POLL_MS, signal);
      }
    },
  };
};
export type SettlementReader = ReturnType<typeof createSettlementReader>;

import { NotFoundError } from '../generated/errors.ts';
import type { ReadSettlement } from '../settle.ts';
import type { Output } from '../types.ts';
import { sleep } from '../wait.ts';

type Shown = Pick<Output<'settlement.get'>, 'status' | 'chain_status' | 'units_remaining' | 'redeemed_at'>;

/** Units can be drawn for so long after the first was. */
const CONSUMABLE_MS = 30 * 86_400_000;
/**
 * For so long it is the affair of whoever paid to show a settlement; it is asked so often whether
 * it was.
 */
const PAYER_PRESENTS_MS = 5000;
const POLL_MS = 1000;
const MAX_CLOSED = 1000;

const isOpen = ({ status, chain_status, units_remaining, redeemed_at }: Shown): boolean => {
  if (chain_status === 'failed' || units_remaining === 0) return false;
  if (status === 'issued' || status === 'pending') return true;
  return status === 'redeemed' && redeemed_at !== null && Date.now() - Date.parse(redeemed_at) < CONSUMABLE_MS;
};

/** What the API says of settlements that a vendor does not accept. */
export const createSettlementReader = (read: ReadSettlement) => {
  /** Of no more use, for good: however many calls find out, it is asked once. */
  const closed = new Set<string>();
  const asking = new Map<string, Promise<boolean>>();

  const ask = async (settlement_id: string): Promise<boolean> => {
    let open: boolean;
    try {
      open = isOpen(await read({ settlement_id }, {}));
    } catch (error) {
      // Another key has paid it. Whatever else goes wrong, nobody knows: then nothing more is
      // bought.
      open = !(error instanceof NotFoundError);
    }
    if (!open) {
      if (closed.size >= MAX_CLOSED) closed.delete(closed.keys().next().value!);
      closed.add(settlement_id);
    }
    return open;
  };

  return {
    /** Whether a prepaid settlement serves more requests, so that the next one need not be paid. */
    hasUnits: async (settlementId: string): Promise<boolean> => {
      if (closed.has(settlementId)) return false;
      const asked = asking.get(settlementId) ?? ask(settlementId).finally(() => asking.delete(settlementId));
      asking.set(settlementId, asked);
      return asked;
    },

    /** Waits a little for whoever paid a settlement to show it to the vendor. */
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

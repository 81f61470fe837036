import type { z } from 'zod';
import { byName, CAPS, COUNTED_CAPS, type CountedCap } from '../../../shared/contract/limits.ts';
import type { DelegateSpending } from '../../../shared/contract/settlement.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { remainingMicro, resetOf } from './model.ts';
import { type DelegateRow, usedOf } from './store.ts';

const capText = (cap: bigint | null): string | null => (cap === null ? null : formatMicro(cap));

/** A delegate's caps and what is left of them, as identity shows them. */
export const showDelegate = (row: DelegateRow): z.infer<typeof DelegateSpending> => {
  const usage = (name: CountedCap) => {
    const { held, spent } = usedOf(row, name);
    return {
      spent: formatMicro(spent),
      held: formatMicro(held),
      remaining: capText(remainingMicro(row[name], held, spent)),
      resets_at: isoTimeOrNull(resetOf(name, row.now)),
    };
  };
  return {
    delegate_id: row.delegate_id,
    limits: byName(CAPS, (name) => capText(row[name])),
    allowed_service_ids: row.allowed_service_ids,
    external: row.external ? { pay_to: row.external_pay_to ?? 'any', origins: row.external_origins } : null,
    approval_above: capText(row.approval_above),
    paused: row.paused,
    usage: byName(COUNTED_CAPS, usage),
    version: row.version,
  };
};

import type { UseRequest } from '../../services/settlement/record/store/uses.ts';
import { picoOf } from '../../shared/lib/money/pico.ts';
import { byteaText, tokenHash } from '../../shared/lib/tokens/packed-token.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import type { Settlement } from './settlement-rows.ts';

/** A row of `uses`: what was used, and the sum of its authorization then. */
type Use = { settlement_id: string; usage_id: string; amount: bigint; used_after: bigint };

/** A request as the statement binds it. */
type Input = Omit<UseRequest, 'settlement_token'> & { token_hash: string };

/** The table of uses, with the guards of services/settlement/record/store/uses.ts. */
export const createUseTables = (
  harness: Harness,
  { settlements, isUsable }: { settlements: Map<string, Settlement>; isUsable: (row: Settlement) => boolean },
) => {
  const uses: Use[] = [];
  const { now, off } = harness;

  const findEarlier = (settlement_id: string, usage_id: string) =>
    uses.find((row) => row.settlement_id === settlement_id && row.usage_id === usage_id);

  /** What a request uses besides earlier uses. Null: nothing, or another amount. */
  const wantedOf = (input: Input) => {
    const shown = input.uses.map((use) => ({
      usage_id: use.usage_id,
      amount: BigInt(use.amount!),
      earlier: off === 'unique id of a consume' ? undefined : findEarlier(input.settlement_id, use.usage_id),
    }));
    if (shown.some(({ earlier, amount }) => earlier !== undefined && earlier.amount !== amount)) return null;
    const wanted = shown.filter(({ earlier }) => earlier === undefined);
    return wanted.length === 0 ? null : wanted;
  };

  /** The conditions on the locked row of the authorization. */
  const isOpen = (row: Settlement, { token_hash }: Input, amount: bigint): boolean => {
    if (row.settlement_token === null || byteaText(tokenHash(row.settlement_token)) !== token_hash)
      return false;
    if (row.status !== 'authorized' || row.ceiling === null || row.used === null) return false;
    if (!isUsable(row)) return false;
    return off === 'ceiling of an authorization' || row.used + amount <= row.ceiling;
  };

  const record = ({ given }: { given: string }): unknown[] =>
    (JSON.parse(given) as Input[]).flatMap((input) => {
      const { settlement_id } = input;
      const row = settlements.get(settlement_id)!;
      const wanted = wantedOf(input);
      const sum = (wanted ?? []).reduce((total, { amount }) => total + amount, 0n);
      if (wanted === null || !isOpen(row, input, sum)) return [];
      for (const { usage_id, amount } of wanted) {
        row.used! += amount;
        uses.push({ settlement_id, usage_id, amount, used_after: row.used! });
        harness.trace('uses', `${settlement_id}: ${usage_id} uses ${amount}`);
      }
      if (row.threshold !== null && row.used! >= row.threshold) row.due_at = EPOCH + now();
      return [{ ...row }];
    });

  const models: Model[] = [
    model<{ given: string }>(/^with input as .*insert into uses /s, 'given _ _ _ _ _ _', record),
    model<{ usageIds: readonly string[]; id: string }>(
      /jsonb_build_object\('usage_id', u\.usage_id, /,
      'usageIds id _',
      ({ usageIds, id }) => {
        const row = settlements.get(id);
        if (row === undefined) return [];
        const found = usageIds.flatMap((usageId) => findEarlier(id, usageId) ?? []);
        const earlier = (off === 'consume read after a refusal' ? [] : found).map((one) => ({
          usage_id: one.usage_id,
          amount_pico: `${picoOf(one.amount)}`,
          used_after_pico: `${picoOf(one.used_after)}`,
        }));
        const unit_price_pico = row.unit_price == null ? null : picoOf(row.unit_price);
        return [{ ...row, unit_price_pico, usable: isUsable(row), earlier, forgotten: false }];
      },
    ),
  ];
  return { uses, models };
};

import { actors } from './actors.ts';
import { createCaller } from './caller.ts';
import type { Attempt } from './clients.ts';
import { type Harness, type Process, require } from './harness.ts';
import type { SettlementReplica } from './processes.ts';
import type { Random } from './random.ts';
import { hasHistory } from './settlement-rows.ts';
import type { SettlementTables } from './settlement-tables.ts';

const TRIES = 4;

/** Payers that close what they have authorized, while it is used, extended or ended. */
export const createClosing = (
  harness: Harness,
  {
    replicas,
    settlement: { settlements },
    random,
  }: { replicas: () => readonly SettlementReplica[]; settlement: SettlementTables; random: Random },
) => {
  const process: Process = { name: 'closing', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const { call, isIdle } = createCaller(harness, process, replicas);
  const seen = new Set<string>();
  /** What was used of those whose payer got an answer. */
  const closed = new Map<string, bigint>();
  let working = 0;

  const close = async (settlement_id: string, payer: number): Promise<void> => {
    const { account_id } = actors.payers[payer]!;
    const caller = { kind: 'jwt' as const, account_id, session_id: 'session', auth_time: 0 };
    for (let tries = 0; tries < TRIES && !closed.has(settlement_id); tries += 1) {
      try {
        const { used } = await call((replica) => replica.close({ settlement_id }, caller));
        closed.set(settlement_id, BigInt(used));
        harness.trace('payer', `closed ${settlement_id}, ${used} are used`);
      } catch (error) {
        harness.trace('payer', `could not close ${settlement_id}: ${(error as Error).message}`);
        await harness.sleep(process, random.between(50, 3000));
      }
    }
    working -= 1;
  };

  return {
    isIdle: () => working === 0 && isIdle(),
    open: ({ settlement_id }: { settlement_id: string }, { quote }: Attempt): void => {
      if (seen.has(settlement_id)) return;
      seen.add(settlement_id);
      if (!random.chance(0.4)) return;
      working += 1;
      harness.inside(process, random.between(0, 8000), () => void close(settlement_id, quote.payer));
    },
    /** After every event. */
    check: (): void => {
      for (const [id, used] of closed) {
        const now = settlements.get(id)!.used;
        require(now === used, 'nothing is used of what its payer has closed', () =>
          `${id}: ${now} of ${used}`);
      }
    },
  };
};

/** After every event: what a payer without a final payment has open is within its cap. */
export const checkOpen = ({ settlements }: SettlementTables, newPayerMicro: bigint): void => {
  const open = new Map<string, bigint>();
  for (const { account_id, status, quote_amount } of settlements.values())
    if (status === 'authorized') open.set(account_id, (open.get(account_id) ?? 0n) + quote_amount);
  for (const [account, sum] of open)
    require(sum <= newPayerMicro ||
      hasHistory(settlements, account), 'what is open is within the cap of a new payer', () =>
      `${account}: ${sum} of ${newPayerMicro}`);
};

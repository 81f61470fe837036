import type { observeWallets } from '../../services/chain-submitter/reads/observe-wallets.ts';
import {
  createCloseIfShort,
  watchAuthorizations,
} from '../../services/settlement/authorizations/watch-authorizations.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness, Process } from './harness.ts';
import { callTo, every } from './process-jobs.ts';
import type { Payer, Settlement } from './settlement-rows.ts';

const EVERY_MS = 1000;
const ALL_LANES: ReadonlySet<number> = new Set(Array.from({ length: 16 }, (_, lane) => lane));

type Observed = { wallet_id: string; balance: string; allowance: string; slot: string };
type Closing = { given: string; subject: string; prefix: string };

/** The statements of the look at wallets, with the guards of their store (authorizations.ts). */
export const watchModels = (
  harness: Harness,
  {
    settlements,
    payers,
    insertOutbox,
  }: {
    settlements: Map<string, Settlement>;
    payers: Map<string, Payer>;
    insertOutbox: (json: string) => unknown[];
  },
): Model[] => {
  const openOf = (walletId: string) =>
    [...settlements.values()].filter((row) => row.wallet_id === walletId && row.due_at !== null);

  const isShort = ({ wallet_id, ...observed }: Observed): boolean => {
    const payer = payers.get(wallet_id);
    const slot = BigInt(observed.slot);
    if (payer === undefined || payer.as_of_slot > slot || payer.included_slot > slot) return false;
    const ceilings = openOf(wallet_id).reduce((sum, { quote_amount }) => sum + quote_amount, 0n);
    return BigInt(observed.balance) < ceilings || BigInt(observed.allowance) < ceilings;
  };

  const close = ({ given, subject, prefix }: Closing): unknown[] =>
    (JSON.parse(given) as Observed[]).filter(isShort).flatMap(({ wallet_id }) =>
      openOf(wallet_id).flatMap((row) => {
        if (row.at_risk_at !== null || row.status !== 'authorized') return [];
        const at = EPOCH + harness.now();
        row.at_risk_at = at;
        row.due_at = Math.min(row.due_at!, at);
        harness.trace('settlements', `${row.settlement_id} is at risk`);
        const event = { subject, msg_id: prefix + row.settlement_id, payload: { wallet_id } };
        return insertOutbox(JSON.stringify([event]));
      }),
    );

  return [
    model<{ after: string; limit: number }>(
      /from payers\s+where wallet_id in \(select wallet_id from authorizations where due_at/,
      'after limit',
      ({ after, limit }) =>
        [...payers.values()]
          .filter(({ wallet_id }) => wallet_id > after && openOf(wallet_id).length > 0)
          .sort((a, b) => (a.wallet_id < b.wallet_id ? -1 : 1))
          .slice(0, limit)
          .map((payer) => ({ ...payer })),
    ),
    model<Closing>(/set at_risk_at = app_now\(\)/, 'given subject prefix', close),
  ];
};

type Watching = Omit<Parameters<typeof createCloseIfShort>[0], 'endDue'> & { endDue: () => Promise<unknown> };

/** A process that reads wallets. */
type Observer = { process: Process; observeWallets: ReturnType<typeof observeWallets> };

/** The job that looks at the wallets of open authorizations. */
export const startWatching = (
  harness: Harness,
  deps: Watching,
  { process, submitters }: { process: Process; submitters: () => readonly Observer[] },
): void => {
  const ask = callTo(harness, process, submitters);
  const watch = watchAuthorizations({
    pool: deps.pool,
    observeWallets: (input) => ask((one) => one.observeWallets(input)),
    closeIfShort: createCloseIfShort(deps),
    ownedLanes: () => ALL_LANES,
  });
  every(harness, process, EVERY_MS, watch);
};

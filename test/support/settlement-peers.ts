import type { Bus } from '../../shared/bus/connect.ts';
import type { AttemptReport } from '../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import type { ReceiptClaims } from '../../shared/contract/settlement/receipts.ts';
import { newId } from '../../shared/lib/id.ts';
import type { TestBus } from './bus.ts';

/** The services that settlement calls, as stand-ins whose answers a test sets. */
const AUTHORITY = 'Vote111111111111111111111111111111111111111';

/** The wallets of the wallet service, by account (its default wallet) and by wallet id. */
export const wallets = new Map<string, { wallet_id: string; owner: string }>();
/** The chain's token accounts by owner. */
export const snapshots = new Map<string, { balance: bigint; allowance: bigint; slot: number }>();
/** Whether the chain can be read, and whether the lamport budget allows settles. */
export const chainCondition = { readable: true, budgetRefillsInSeconds: null as number | null };
/** The accounts that identity has frozen. */
export const frozen = new Set<string>();
/** The payments on the chain of quotes whose records are lost, by quote token. */
export const payments = new Map<string, { paid: boolean; owner: string | null }>();
/** The captures on the chain whose records are lost, by quote token. Null: it does not answer. */
export const lostCaptures = new Map<string, string | null>();
/** The report of chain-submitter about every attempt. */
export const attemptReport: AttemptReport = {
  outcome: 'open',
  reason: 'not queried',
  intent: null,
  transactions: [],
  under_reference: [],
  finalized_height: 1,
};
/** @throws ServiceError if the chain does not answer */
export const findLostCapture = (quoteToken: string): { amount: string | null } => {
  const amount = lostCaptures.get(quoteToken);
  if (amount === null) throw new ServiceError('service_unavailable', 'no provider answers');
  return { amount: amount ?? null };
};

/** The confirmed refunds of funding, by settlement. Null: funding does not answer. */
export const confirmedRefunds = new Map<string, ReceiptClaims['refunds'] | null>();
/** What funding answers about the confirmed refunds of a settlement. */
export const confirmedRefundsOf = (settlementId: string) => {
  const refunds = confirmedRefunds.get(settlementId) ?? [];
  if (confirmedRefunds.get(settlementId) === null)
    throw new ServiceError('service_unavailable', 'temporarily unavailable');
  const total = refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return { refunds, count: refunds.length, total: `${total}` };
};

const serve = <I = Record<string, string>>(
  bus: Bus,
  subject: string,
  answer: (input: I) => unknown,
): void => {
  bus.nc.subscribe(subject, {
    callback: (_error, msg) => {
      const { input } = msg.json<{ input: I }>();
      msg.respond(JSON.stringify({ ok: answer(input) }));
    },
  });
};

const observed = (owner: string) => {
  const { balance, allowance, slot } = snapshots.get(owner)!;
  return {
    token_account: owner,
    balance: `${balance}`,
    allowance: `${allowance}`,
    slot,
    exists: true,
    delegate: AUTHORITY,
    served: true,
  };
};

/** Serves wallet and chain-submitter. @returns the bus of chain-submitter, for its events */
export const servePeers = async (testBus: TestBus): Promise<Bus> => {
  const [walletBus, chainBus] = await Promise.all([testBus.as('wallet'), testBus.as('chain-submitter')]);
  const walletOf = (id: string) => {
    const found = wallets.get(id);
    return found === undefined ? null : { ...found, token_account: found.owner, authority: AUTHORITY };
  };
  serve(walletBus, 'int.wallet.find', ({ account_id, wallet_id }) => walletOf(wallet_id ?? account_id!));
  serve<{ account_ids: string[] }>(walletBus, 'int.wallet.findDefaults', ({ account_ids }) =>
    account_ids.map(walletOf),
  );
  serve(chainBus, 'int.chain-submitter.observeWallet', ({ owner }) => observed(owner!));
  serve<{ owners: string[] }>(chainBus, 'int.chain-submitter.observeWallets', ({ owners }) => ({
    snapshots: owners.map(observed),
  }));
  serve(chainBus, 'int.chain-submitter.getAttemptReport', () => attemptReport);
  await Promise.all([walletBus.nc.flush(), chainBus.nc.flush()]);
  return chainBus;
};

type Consumer = Extract<Principal, { kind: 'jwt' }> & { owner: string };

/** Later than any time to which most tests set the clock. */
const JUST_NOW = Math.floor(Date.now() / 1000) + 2 * 86_400;

/** A consumer with a wallet who has just signed in, so the limits of the account do not bind. */
export const consumer = (balance = 100_000_000n, allowance = balance): Consumer => {
  const account_id = newId('acct');
  const owner = `Consumer${account_id.slice(5).replaceAll(/[0l]/g, 'z')}`.slice(0, 34);
  wallets.set(account_id, { wallet_id: newId('wal'), owner });
  snapshots.set(owner, { balance, allowance, slot: 100 });
  // Not enumerable, because the principal that goes over the bus has no owner.
  return Object.defineProperty(
    { kind: 'jwt', account_id, session_id: 's', auth_time: JUST_NOW } as never,
    'owner',
    {
      value: owner,
    },
  );
};

import type { Records } from '../../../shared/boot.ts';
import { conflict, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { OnrampProvider } from '../../../shared/contract/funding/deposits.ts';
import type { CallKey } from '../../../shared/contract/idempotency.ts';
import type { funding } from '../../../shared/contract/index.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { abandon, begin, complete, inOneCommit, resume } from '../../../shared/idempotency/store.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Peers } from '../peers.ts';
import type { Onramp, Onramps, Purchase } from './providers/onramp.ts';
import {
  findDepositUnscoped,
  insertDeposit,
  type NewDeposit,
  openDeposit,
  transitionDeposit,
} from './store/deposits.ts';
import { showDeposit } from './view.ts';

type Deps = Pick<Records, 'pool'> & { onramps: Onramps } & Pick<Peers, 'findWallet'>;

const configuredOnramp = ({ onramps }: Deps, provider: OnrampProvider): Onramp => {
  const onramp = onramps[provider];
  if (onramp !== undefined) return onramp;
  throw conflict(`provider: ${provider} is not set up in this environment`, {
    details: [{ path: 'provider', message: 'not set up in this environment' }],
  });
};

/**
 * The deposit that an earlier call with the key has begun, or null. An expired one is not resumed,
 * because no caller has the address of its page.
 */
const resumeDeposit = async ({ pool }: Deps, key: CallKey | undefined): Promise<string | null> => {
  const begun = await resume(pool, key);
  const row = begun === null ? null : await findDepositUnscoped(pool, begun);
  return row?.status === 'created' && !row.elapsed ? row.deposit_id : null;
};

/** Begins a deposit before the provider is called: a report about a deposit must find its row. */
const beginDeposit = async (
  deps: Deps,
  row: Omit<NewDeposit, 'deposit_id'>,
  key: CallKey | undefined,
): Promise<string> => {
  const begun = await resumeDeposit(deps, key);
  if (begun !== null) return begun;
  const deposit_id = newId('dep');
  await inOneCommit(deps.pool, key, async (tx) => {
    await insertDeposit(tx, { deposit_id, ...row });
    await begin(tx, key, deposit_id);
  });
  return deposit_id;
};

/**
 * Marks a deposit as failed whose page could not be opened. No caller has the address of the page.
 */
const failDeposit = ({ pool }: Deps, depositId: string, key: CallKey | undefined, message: string) =>
  inOneCommit(pool, key, async (tx) => {
    await transitionDeposit(tx, depositId, 'refused', { problem: { code: 'not_opened', message } });
    await abandon(tx, key, depositId);
  });

/**
 * Has the provider make its payment page and records the page.
 * @returns the answer of the call
 */
const openPage = async ({ pool }: Deps, onramp: Onramp, purchase: Purchase, key: CallKey | undefined) => {
  const { depositId } = purchase;
  const page = await onramp.open(purchase);
  await failpoint('funding.beforeFinished');
  return inOneCommit(pool, key, async (tx) => {
    const answer = showDeposit(await openDeposit(tx, depositId, page));
    await complete(tx, key, answer, depositId);
    return answer;
  });
};

/** POST /v1/deposits/fiat. */
export const createDeposit =
  (deps: Deps): Handler<typeof funding.operations.createDeposit> =>
  async ({ provider, fiat_currency, fiat_amount, redirect_url, wallet_id }, { account_id }, key) => {
    const onramp = configuredOnramp(deps, provider);
    const wallet = await deps.findWallet({ account_id, wallet_id });
    if (wallet === null) throw notFound('wallet');
    const { owner } = wallet;
    const row = { account_id, wallet_id: wallet.wallet_id, owner, provider, fiat_currency, fiat_amount };
    const depositId = await beginDeposit(deps, row, key);
    await failpoint('funding.afterBegun');
    try {
      const returnUrl = redirect_url ?? null;
      const purchase = { depositId, owner, fiatCurrency: fiat_currency, fiatAmount: fiat_amount, returnUrl };
      return await openPage(deps, onramp, purchase, key);
    } catch (error) {
      if (error instanceof ServiceError) await failDeposit(deps, depositId, key, error.message);
      throw error;
    }
  };

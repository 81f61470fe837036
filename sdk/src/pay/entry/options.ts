import { bigintFault } from '../../amounts.ts';
import type { Environment } from '../../checks/tokens.ts';
import type { Credential } from '../../credential.ts';
import { checkKey, checkWholeKey } from '../../credential-kind.ts';
import {
  checkBaseUrl,
  checkCount,
  checkFunction,
  checkMethods,
  checkNames,
  type OptionNames,
  refuseFault,
} from '../../options.ts';
import type { Budget } from '../base/budget.ts';
import type { Callbacks } from '../base/callbacks.ts';
import type { Approve } from '../base/price.ts';
import type { Rules } from '../base/rules.ts';
import type { PaymentStore } from '../base/store.ts';

/** A sign-in of the account, for programs that a person uses. Agents get a delegate key. */
export type SignedIn = { environment: Environment; signIn: Credential };

export type PayOptions = Rules &
  Callbacks & {
    /**
     * The address of the API. Its keys verify every quote, and payments go there, whatever a
     * vendor's answer names.
     */
    baseUrl: string;
    /** `dk_test_…` or `dk_live_…`, which determines the environment. Or a sign-in, with its own. */
    delegateKey: string | SignedIn;
    budget?: Budget;
    /** The final decision on a price that passes all rules. False: it is not paid. */
    approve?: Approve;
    /**
     * False: a 402 of a vendor that does not use Quittance is returned unchanged. Otherwise it is
     * paid if its offer of x402 or MPP is payable and the delegate's `external` allows it.
     */
    x402?: boolean;
    /** Default: in memory. Use a durable store if a crash must not lose what was paid for. */
    store?: PaymentStore;
    /** Bodies are held in memory to be sent again. Default 1 MiB. */
    maxBodyBytes?: number;
  };

const OPTIONS = {
  baseUrl: true,
  delegateKey: true,
  maxAmount: true,
  budget: true,
  allow: true,
  maxWindowSeconds: true,
  approve: true,
  x402: true,
  store: true,
  maxBodyBytes: true,
  onPaid: true,
  onDeclined: true,
  onTabEnded: true,
} satisfies OptionNames<PayOptions>;
const BUDGET = { total: true, perOrigin: true, periodMs: true } satisfies OptionNames<Budget>;
const ALLOW = { origins: true, serviceIds: true, mints: true } satisfies OptionNames<
  NonNullable<Rules['allow']>
>;
const SIGNED_IN = { environment: true, signIn: true } satisfies OptionNames<SignedIn>;

/** Whose money it is, and in which environment. */
const payerOf = (delegateKey: string | SignedIn): SignedIn => {
  if (typeof delegateKey === 'object' && delegateKey !== null) {
    checkNames('delegateKey', delegateKey, SIGNED_IN);
    const { environment, signIn } = delegateKey;
    if (environment !== 'test' && environment !== 'live')
      throw new TypeError(`delegateKey.environment: use 'test' or 'live'`);
    if (signIn === undefined) throw new TypeError('delegateKey.signIn is missing: pass a sign-in');
    return delegateKey;
  }
  checkKey('delegateKey', delegateKey, 'delegate key');
  checkWholeKey('delegateKey', delegateKey);
  return { environment: delegateKey.startsWith('dk_live_') ? 'live' : 'test', signIn: delegateKey };
};

const checkAllow = (allow: NonNullable<Rules['allow']>): void => {
  checkNames('allow', allow, ALLOW);
  for (const [name, list] of Object.entries(allow))
    if (list !== undefined && !(Array.isArray(list) && list.every((each) => typeof each === 'string')))
      throw new TypeError(`allow.${name}: pass a list of texts`);
  for (const origin of allow.origins ?? [])
    if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin))
      throw new TypeError('allow.origins: use addresses with their scheme, like https://api.example.com');
};

const checkBudget = (budget: Budget): void => {
  checkNames('budget', budget, BUDGET);
  const { total, perOrigin, periodMs } = budget;
  if (total !== undefined) refuseFault('budget.total', bigintFault(total));
  if (perOrigin !== undefined) refuseFault('budget.perOrigin', bigintFault(perOrigin));
  checkCount('budget.periodMs', periodMs, 'milliseconds');
};

/**
 * Checks the options where they are declared.
 * @returns the options with the address as it is used, and the payer
 * @throws TypeError that begins with the name of a wrong option
 */
export const checked = (options: PayOptions): PayOptions & { payer: SignedIn } => {
  checkNames('payingFetch', options, OPTIONS);
  const baseUrl = checkBaseUrl(options.baseUrl);
  const payer = payerOf(options.delegateKey);
  refuseFault('maxAmount', bigintFault(options.maxAmount));
  if (options.budget !== undefined) checkBudget(options.budget);
  if (options.allow !== undefined) checkAllow(options.allow);
  checkCount('maxWindowSeconds', options.maxWindowSeconds, 'seconds');
  checkFunction('approve', options.approve);
  checkFunction('onPaid', options.onPaid);
  checkFunction('onDeclined', options.onDeclined);
  checkFunction('onTabEnded', options.onTabEnded);
  checkMethods('store', options.store, 'PaymentStore', ['load', 'save', 'remove']);
  checkCount('maxBodyBytes', options.maxBodyBytes, 'bytes');
  return { ...options, baseUrl, payer };
};

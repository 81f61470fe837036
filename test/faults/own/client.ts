import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Quote,
  settleWith,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import {
  type Api,
  balancedApi,
  createApi,
  lostBy,
  must,
  patientApi,
} from '../../../deploy/local/seed/api.ts';
import type { SignIn } from '../../../deploy/local/seed/sign-in.ts';
import { atOnce } from '../../support/servers/stack.ts';
import type { Access } from '../access.ts';
import { type Attempt, bodyOf, type ClientLog } from './client-log.ts';
import { createOwner, createOwnerCalls, type Owner } from './owners.ts';
import { createRefundCalls } from './refunds.ts';
import { createUnitCalls } from './units.ts';

/**
 * Longer than any answer of the API takes, so that a missing answer is a fault and not a short
 * timeout.
 */
const TIMEOUT_MS = 25_000;
const BALANCE = 10_000_000_000n;
/** Can pay for a few only. Its refusals must stay refusals. */
const POOR_BALANCE = 1_000_000n;
const POOR = 3;
/**
 * Limits of the delegates: one that is used up within seconds, one that is never reached, and one
 * that too many concurrent payments would exceed.
 */
const AGENT_LIMITS = [
  { total: '3000000' },
  { daily: '6000000', per_payment: '400000' },
  { total: '20000000', monthly: '15000000' },
  { total: '1000000000000' },
];
/** Access tokens are valid for 15 minutes. */
const REFRESH_AFTER_MS = 8 * 60_000;

/** A delegate of a rich payer, and another one of the same account. */
type Agent = { payer: Consumer; key: string; other: string };

/**
 * The first payment of a new payer: the full balance of its wallet, or the full limit of its
 * delegate.
 */
export const FIRST_PRICE = 500_000n;
const FITTING_DELEGATES = 4;

/** A payer whose wallet has never paid. */
export type Newcomer = {
  payer: Consumer;
  /**
   * Keys of delegates whose limit suffices for exactly one payment; none: the wallet's balance
   * does.
   */
  fitting: string[];
  /** Another delegate of the same account. */
  other: string;
};

export type Actors = {
  rich: Consumer[];
  poor: Consumer[];
  /** Delegates of rich payers, with limits that the load reaches. */
  agents: Agent[];
  /** Pays only during the fault in which its owner revokes its allowance or moves its balance. */
  fickle: Consumer;
  /** Their agents need approvals. */
  owners: Owner[];
  vendors: Vendor[];
};

/** Signs all clients up before the faults begin. */
export const createActors = async (
  { stack }: Access,
  { payers, vendors, owners: deciding }: { payers: number; vendors: number; owners: number },
): Promise<Actors> => {
  const api = patientApi(createApi(stack.gateway_url));
  const [rich, poor, fickle, owners, sellers] = await Promise.all([
    atOnce(payers - POOR, () => createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE })),
    atOnce(POOR, () => createConsumer(api, stack, { balance: POOR_BALANCE, allowance: BALANCE })),
    createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE }),
    atOnce(deciding, async () =>
      createOwner(api, stack, await createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE })),
    ),
    atOnce(vendors, () => createVendor(api, stack)),
  ]);
  const agents = await atOnce(AGENT_LIMITS.length, async (i) => {
    const payer = rich[i % rich.length]!;
    const [own, other] = await Promise.all(
      [AGENT_LIMITS[i]!, {}].map((limits) => createDelegate(api, payer, limits)),
    );
    return { payer, key: own!.api_key, other: other!.api_key };
  });
  return { rich, poor, agents, fickle, owners, vendors: sellers };
};

/** Signs up a new payer during the faults; null when that failed. */
const signUp = async (
  api: Api,
  stack: Access['stack'],
  pays: 'wallet' | 'delegates',
): Promise<Newcomer | null> => {
  try {
    const balance = pays === 'wallet' ? FIRST_PRICE : 2n * BigInt(FITTING_DELEGATES) * FIRST_PRICE;
    const payer = await createConsumer(api, stack, { balance, allowance: balance });
    const fits = FIRST_PRICE.toString();
    const limits = Array.from({ length: pays === 'wallet' ? 0 : FITTING_DELEGATES }, (_, i) =>
      i % 2 === 0 ? { total: fits } : { daily: fits },
    );
    const [other, ...fitting] = await Promise.all(
      [{}, ...limits].map((limit) => createDelegate(api, payer, limit)),
    );
    return { payer, fitting: fitting.map(({ api_key }) => api_key), other: other!.api_key };
  } catch {
    return null;
  }
};

/** Clients that record all their calls and answers. */
export type Client = ReturnType<typeof createClient>;

/** @param redeemed gets the transaction of each payment that was redeemed */
export const createClient = ({ stack }: Access, clientLog: ClientLog, redeemed: string[]) => {
  const api = balancedApi(stack.gateway_urls, { timeoutMs: TIMEOUT_MS });
  const tokens = new Map<Consumer, { at: number; session: Promise<SignIn> }>();

  /** The payer's access token, refreshed before it expires. */
  const tokenOf = async (payer: Consumer): Promise<string> => {
    const held = tokens.get(payer) ?? { at: Date.now(), session: Promise.resolve(payer.signIn) };
    tokens.set(payer, held);
    const { access_token, refresh_token } = await held.session;
    if (Date.now() - held.at < REFRESH_AFTER_MS) return access_token;
    const next = must(api<SignIn>('POST /v1/auth/refresh', { body: { refresh_token } }), 'refresh');
    tokens.set(payer, { at: Date.now(), session: next });
    return next.then(
      (session) => session.access_token,
      () => {
        // The present token is valid for some minutes. The next call tries again.
        tokens.set(payer, { at: held.at + 5000, session: held.session });
        return access_token;
      },
    );
  };

  const asked = async (what: string, ask: () => Promise<{ status: number; body: unknown }>) => {
    const call = clientLog.ask(what);
    const { status, body } = await ask().catch((error: unknown) => ({
      status: null,
      body: { lost: lostBy(error) },
    }));
    clientLog.answered(call, status, body);
    return { askedAt: call.askedAt, at: Date.now(), status, body };
  };

  /** Records the calls of a sign-up, too. */
  const recorded: Api = async (call, options) => {
    const begun = clientLog.ask(call);
    try {
      const answer = await api<never>(call, options);
      clientLog.answered(begun, answer.status, answer.body);
      return answer;
    } catch (error) {
      clientLog.answered(begun, null, { lost: lostBy(error) });
      throw error;
    }
  };

  return {
    ...createOwnerCalls(clientLog, { api, asked, tokenOf }),
    ...createRefundCalls(clientLog, { api, asked }),
    ...createUnitCalls(clientLog, { api, asked }),
    signUp: (pays: 'wallet' | 'delegates') => signUp(recorded, stack, pays),
    /** A quote, requested until there is one; null when the attempt is no longer wanted. */
    quote: async (vendor: Vendor, body: object, wanted: () => boolean): Promise<Quote | null> => {
      while (wanted()) {
        const { status, body: quote } = await asked('quote', () =>
          api('POST /v1/quote', {
            token: vendor.apiKey,
            body: { service_id: vendor.serviceId, ...body },
          }),
        );
        if (status === 201) return quote as Quote;
        await sleep(200);
      }
      return null;
    },
    /** Sends a little money to a poor wallet. The records show whether it arrived. */
    topUp: async (payer: Consumer): Promise<void> => {
      const token = await tokenOf(payer);
      const body = { wallet_id: payer.walletId, amount: POOR_BALANCE.toString() };
      await asked('fund', () => api('POST /v1/dev/fund', { token, body }));
    },
    /** Calls settle once. */
    settle: async (attempt: Attempt): Promise<void> => {
      const token = attempt.key ?? (await tokenOf(attempt.payer));
      attempt.asking += 1;
      // A refusal before acceptance records nothing: a repeated attempt may be accepted.
      if (attempt.outcome === 'refused') attempt.outcome = 'open';
      const answer = await asked('settle', () => settleWith(api, token, attempt.quote, attempt.id));
      attempt.asking -= 1;
      clientLog.recordAnswer(attempt, { ...answer, how: 'settle' });
    },
    /**
     * A client that lost everything but the id queries the state of its attempt. False when it got
     * no answer.
     */
    find: async (attempt: Attempt): Promise<boolean> => {
      const token = attempt.key ?? (await tokenOf(attempt.payer));
      const answer = await asked('find', () =>
        api(`GET /v1/settlements?payment_attempt_id=${attempt.id}`, { token }),
      );
      if (answer.status !== 200) return false;
      const found = (answer.body as { data: unknown[] }).data[0];
      clientLog.recordAnswer(attempt, { ...answer, how: 'find', body: found ?? null });
      if (found === undefined) attempt.outcome = 'unknown';
      return attempt.outcome !== 'open';
    },
    /** Redeems a paid settlement once. True when the answer is final. */
    redeem: async (attempt: Attempt, redeemId: string): Promise<boolean> => {
      const { settlementId, token, vendor } = attempt;
      const answer = await asked('redeem', () =>
        api(`POST /v1/settlements/${settlementId}/redeem`, {
          token: vendor.apiKey,
          body: { settlement_token: token, redeem_id: redeemId },
        }),
      );
      const first = !attempt.redeems.some(({ status }) => status === 200);
      attempt.redeems.push({ redeemId, ...answer });
      if (answer.status === 200 && first) {
        clientLog.redeemed.push(attempt);
        redeemed.push(...attempt.answers.flatMap((one) => bodyOf(one).tx_hash ?? []).slice(-1));
      }
      return answer.status !== null && answer.status < 500;
    },
  };
};

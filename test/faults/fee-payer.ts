import { setTimeout as sleep } from 'node:timers/promises';
import { createConsumer, type Quote, settleWith } from '../../deploy/local/seed/actors.ts';
import { type Answer, balancedApi, must, patientApi } from '../../deploy/local/seed/api.ts';
import { signIn } from '../../deploy/local/seed/sign-in.ts';
import type { Harness } from './harness.ts';
import type { Rng } from './rng.ts';

const BALANCE = 1_000_000_000n;
const EVERY_MS = [300, 1200] as const;
/** A vendor pays before its credit is used up: when it owes this part of it. */
const OWED_PART = 4n;
const UNAUTHORIZED = 401;

type Fees = { owed: string; credit: string };

/**
 * A vendor that pays what it owes for payments of x402 (docs/adr/0061): from a wallet of its
 * account it settles quotes of its fees, again and again.
 */
export const createFeePayer = async (harness: Harness, email: string) => {
  const { stack, chain } = harness;
  const api = patientApi(balancedApi(stack.gateway_urls));
  const { token: first, wallet } = await createConsumer(api, stack, {
    ...{ email, balance: BALANCE, allowance: BALANCE },
  });
  let token = first;
  let open: { quote: Quote; attemptId: string } | null = null;

  /** Calls with the session, and with a new one when that has expired. */
  const call = async <T>(make: (token: string) => Promise<Answer<T>>): Promise<Answer<T>> => {
    const answer = await make(token);
    if (answer.status !== UNAUTHORIZED) return answer;
    token = (await signIn(api, stack, email, 'test')).access_token;
    return make(token);
  };
  const payOnce = async (): Promise<void> => {
    if (open === null) {
      const { owed, credit } = await must(
        call((by) => api<Fees>('GET /v1/accounts/me/fees', { token: by })),
        'fees',
      );
      if (BigInt(owed) * OWED_PART < BigInt(credit)) return;
      const quote = await must(
        call((by) => api<Quote>('POST /v1/accounts/me/fee-quote', { token: by })),
        'fee quote',
      );
      open = { quote, attemptId: crypto.randomUUID() };
    }
    const { quote, attemptId } = open;
    const { status } = await call((by) => settleWith(api, by, quote, attemptId));
    // Anything else is repeated with the same attempt.
    if (status === 200 || (status >= 400 && status < 500)) open = null;
  };

  return {
    /** Pays until the load has ended. A call that a fault has stopped is made again. */
    payWhile: async (isRunning: () => boolean, rng: Rng): Promise<void> => {
      while (isRunning()) {
        await payOnce().catch(() => {});
        await sleep(rng.int(...EVERY_MS));
      }
    },
    /** What its wallet has lost. It pays nothing else. */
    lost: async (): Promise<bigint> => BALANCE - (await chain.balance(wallet.publicKey)),
  };
};
export type FeePayer = Awaited<ReturnType<typeof createFeePayer>>;

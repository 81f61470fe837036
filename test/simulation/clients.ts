import { ServiceError } from '../../shared/contract/errors.ts';
import type { QuoteClaims } from '../../shared/contract/tokens.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { signToken } from '../../shared/lib/compact-token.ts';
import { EPOCH } from './database.ts';
import { parties } from './parties.ts';
import type { SettlementReplica } from './processes.ts';
import type { Process, World } from './world.ts';

export type Quote = { quoteId: string; token: string; grossMicro: bigint; expiresAt: number; payer: number };
export type Attempt = {
  attemptId: string;
  quote: Quote;
  /** What the client was told: the 200, and an error to a call that was made after it. */
  paid: { settlement_id: string; settlement_token: string } | null;
  refused: string | null;
};

const CALL_TIMEOUT_MS = 20_000;
/** Refusals that record nothing or may change: the same id may be asked again. */
const TRANSIENT = ['service_unavailable', 'internal_error'];

/** A quote token as the quote service signs it. */
export const createQuote = (
  world: World,
  {
    number,
    payer,
    grossMicro,
    livesMs,
  }: { number: number; payer: number; grossMicro: bigint; livesMs: number },
): Quote => {
  const quoteId = parties.quoteId(number);
  const expiresAt = EPOCH + world.now() + livesMs;
  const claims: Omit<QuoteClaims, 'kid' | 'typ'> = {
    env: 'test',
    quote_id: quoteId,
    vendor_account_id: parties.vendor.account_id,
    service_id: parties.vendor.service_id,
    service_name: 'simulated',
    payout_address: parties.vendor.payout,
    mint: parties.mint,
    quote_amount: String(grossMicro),
    fee_amount: String(grossMicro / 100n),
    currency: 'USDC',
    issued_at: isoTime(EPOCH + world.now()),
    expires_at: isoTime(expiresAt),
    redeem_window_seconds: world.random.int(30, 120),
    scope: null,
  };
  world.call(quoteId, `Q${number}`);
  return { quoteId, token: signToken('quote', claims, parties.quoteKey), grossMicro, expiresAt, payer };
};

/** The payers' programs and the vendor's: they ask, repeat, and keep a ledger of what they were told. */
export const createClients = (world: World, replicas: () => readonly SettlementReplica[]) => {
  const { random } = world;
  const process: Process = { name: 'client', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const attempts: Attempt[] = [];
  /** Programs that still ask, and questions that a living replica still works on, heard or not. */
  let pursuing = 0;
  const underWay = new Map<Promise<unknown>, Process>();

  /** Answers of a replica that dies, sleeps or is cut off never arrive. */
  const call = async <T>(run: (replica: SettlementReplica) => Promise<T>): Promise<T> => {
    const able = replicas().filter((one) => one.process.alive);
    if (able.length === 0) throw new ServiceError('service_unavailable', 'nobody serves');
    const replica = random.pick(able);
    const timeout = world.sleep(process, CALL_TIMEOUT_MS).then(() => {
      throw new ServiceError('service_unavailable', 'no answer in time');
    });
    const work = run(replica).finally(() => underWay.delete(work));
    underWay.set(work, replica.process);
    const answer = await Promise.race([work, timeout]);
    if (random.chance(world.faults.lostAnswer)) throw new ServiceError('service_unavailable', 'answer lost');
    return answer;
  };

  const told = (attempt: Attempt, answer: { settlement_id: string; settlement_token: string }) => {
    const { attemptId, paid } = attempt;
    if (paid === null) {
      attempt.paid = answer;
      return;
    }
    if (paid.settlement_id !== answer.settlement_id || paid.settlement_token !== answer.settlement_token)
      world.fail('same attempt, same settlement', `${attemptId} was answered with two settlements`);
  };

  /** One call of settle. True: the answer is final. */
  const ask = async (attempt: Attempt): Promise<boolean> => {
    const { attemptId, quote } = attempt;
    // Before it is accepted a refusal records nothing: the same id may be paid later.
    const wasPaid = attempt.paid !== null;
    const caller = {
      kind: 'jwt' as const,
      account_id: parties.payers[quote.payer]!.account_id,
      session_id: 'session',
      auth_time: 0,
    };
    const input = { quote_token: quote.token, payment_attempt_id: attemptId };
    try {
      const answer = await call((replica) => replica.settle(input, caller));
      world.trace('client', `${attemptId}: ${answer.status} ${answer.settlement_id}`);
      if (answer.status !== 'confirmed') return false;
      told(attempt, answer);
      return true;
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : 'internal_error';
      world.trace('client', `${attemptId}: ${code} (${(error as Error).message})`);
      if (TRANSIENT.includes(code)) return false;
      if (wasPaid) attempt.refused = code;
      return true;
    }
  };

  const redeem = async ({ paid, attemptId }: Attempt): Promise<void> => {
    if (paid === null) return;
    const { account_id, service_id } = parties.vendor;
    const caller = { kind: 'service_key' as const, account_id, service_id, key_id: 'key' };
    const { settlement_id, settlement_token } = paid;
    try {
      await call((replica) => replica.redeem({ settlement_id, settlement_token }, caller));
      world.trace('vendor', `redeems ${attemptId}`);
    } catch (error) {
      world.trace('vendor', `could not redeem ${attemptId}: ${(error as Error).message}`);
    }
  };

  /** Asks until there is a final answer, then now and then again. */
  const pursue = async (attempt: Attempt): Promise<void> => {
    pursuing += 1;
    for (let tries = 0; tries < 40 && !(await ask(attempt)); tries++)
      await world.sleep(process, random.between(200, 6000));
    if (random.chance(0.5)) {
      await world.sleep(process, random.between(0, 20_000));
      await redeem(attempt);
    }
    if (random.chance(0.3)) {
      await world.sleep(process, random.between(0, 30_000));
      await ask(attempt);
    }
    pursuing -= 1;
  };

  return {
    attempts,
    process,
    ask,
    isIdle: () => pursuing === 0 && [...underWay.values()].every(({ alive }) => !alive),
    begin: (attemptId: string, quote: Quote, delayMs: number) => {
      const attempt: Attempt = { attemptId, quote, paid: null, refused: null };
      attempts.push(attempt);
      world.inside(process, delayMs, () => void pursue(attempt));
      // An impatient client asks twice at once.
      if (random.chance(0.4)) world.inside(process, delayMs + random.between(0, 10), () => void ask(attempt));
    },
  };
};
export type Clients = ReturnType<typeof createClients>;

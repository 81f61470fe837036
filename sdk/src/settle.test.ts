import { afterEach, describe, expect, test } from '@jest/globals';
import { withoutPauses } from '../../test/support/base/skipped-pauses.ts';
import {
  type Asked,
  refusal,
  type Scripted,
  startScripted,
} from '../../test/support/stand-ins/scripted-server.ts';
import {
  ApiError,
  type AttemptStore,
  createClient,
  InsufficientFundsError,
  memoryAttempts,
  PaidElsewhereError,
  PaymentUndecidedError,
  UnauthorizedError,
} from './main.ts';

/** Of the test itself. The pauses of the client are skipped. */
const { setTimeout: realTimer } = globalThis;

let running: Awaited<ReturnType<typeof startScripted>> | undefined;
afterEach(() => running?.stop());

const QUOTE = { quote_token: 'quote.signature' };
const paid: Scripted = {
  status: 200,
  body: { settlement_id: 'stl_1', settlement_token: 'a.b', status: 'confirmed', tx_hash: 'h' },
};
const pending: Scripted = {
  status: 202,
  body: { settlement_id: 'stl_1', status: 'pending', tx_hash: null },
  retryAfter: 0,
};
const poor = refusal(402, 'insufficient_funds', { money_moved: 'no', safe_action: 'top_up' });
const unsure = { money_moved: 'unknown', safe_action: 'retry_same_attempt' };

const clientOf = async (
  answer: (asked: Asked, n: number) => Scripted,
  attempts: AttemptStore = memoryAttempts(),
) => {
  running = await startScripted(answer);
  return {
    client: createClient({ baseUrl: running.baseUrl, credential: 'key', attempts }),
    baseUrl: running.baseUrl,
    asked: running.asked,
    ids: () => running!.asked.map(({ body }) => body!.payment_attempt_id),
  };
};

test('through lost answers, undecided refusals and 202, every call has the same id, which is stored before the first', async () => {
  const answers = [
    'lost',
    refusal(500, 'internal_error', unsure),
    refusal(503, 'service_unavailable', unsure),
    { status: 502, html: true },
    pending,
    refusal(429, 'rate_limited', unsure),
    paid,
  ] as const;
  const stored: string[] = [];
  const store = memoryAttempts();
  const { client, asked, ids } = await clientOf(
    (_, n) => {
      expect(stored).toHaveLength(1);
      return answers[n]!;
    },
    {
      ...store,
      getOrInsert: async (quote, id) => {
        // Slower than a request. The request must wait for it.
        await new Promise((resolve) => realTimer(resolve, 50));
        stored.push(id);
        return store.getOrInsert(quote, id);
      },
    },
  );
  const settled = await withoutPauses(() => client.settlement.settle(QUOTE));
  expect(settled).toMatchObject({ status: 'confirmed', payment_attempt_id: stored[0] });
  expect(asked).toHaveLength(answers.length);
  expect(new Set(ids())).toEqual(new Set(stored));
});

test('concurrent and later calls for one quote make one attempt', async () => {
  const { client, ids } = await clientOf(() => paid);
  await Promise.all([client.settlement.settle(QUOTE), client.settlement.settle(QUOTE)]);
  await client.settlement.settle(QUOTE);
  expect(new Set(ids()).size).toBe(1);
  await client.settlement.settle({ quote_token: 'another.quote' });
  expect(new Set(ids()).size).toBe(2);
});

test('a new client with the same store continues the attempt of a crashed one', async () => {
  const store = memoryAttempts();
  const first = await clientOf(() => 'lost', store);
  await expect(first.client.settlement.settle(QUOTE, { patienceMs: 0 })).rejects.toThrow(
    PaymentUndecidedError,
  );
  const [id] = first.ids();
  await running?.stop();
  const second = await clientOf(() => paid, store);
  expect((await second.client.settlement.settle(QUOTE)).payment_attempt_id).toBe(id);
});

test('a final refusal names the attempt, and the next call begins another one', async () => {
  const { client, ids } = await clientOf((_, n) => (n === 0 ? poor : paid));
  const error = await client.settlement.settle(QUOTE).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(InsufficientFundsError);
  expect(error).toMatchObject({ moneyMoved: 'no', safeAction: 'top_up', paymentAttemptId: ids()[0] });
  await client.settlement.settle(QUOTE);
  expect(new Set(ids()).size).toBe(2);
});

test('after a refusal of the credential the attempt remains', async () => {
  const { client, ids } = await clientOf((_, n) => (n === 0 ? refusal(401, 'unauthorized', unsure) : paid));
  await expect(client.settlement.settle(QUOTE)).rejects.toThrow(UnauthorizedError);
  await client.settlement.settle(QUOTE);
  expect(new Set(ids()).size).toBe(1);
});

test('an id of the caller is used unchanged, and the store is not used', async () => {
  const forbidden = (): never => {
    throw new Error('the store was touched');
  };
  const { client, ids } = await clientOf((_, n) => (n === 0 ? poor : paid), {
    getOrInsert: forbidden,
    remove: forbidden,
  });
  const mine = { ...QUOTE, payment_attempt_id: 'mine' };
  await expect(client.settlement.settle(mine)).rejects.toThrow(ApiError);
  expect(await client.settlement.settle(mine)).toMatchObject({ payment_attempt_id: 'mine' });
  expect(ids()).toEqual(['mine', 'mine']);
});

test.each(['during a wait', 'during a call'])('an abort %s throws PaymentUndecidedError', async (when) => {
  const stop = new AbortController();
  const { client, ids } = await clientOf(() => {
    if (when === 'during a call') stop.abort();
    else setTimeout(() => stop.abort(), 50);
    return { ...(pending as object), status: 202, retryAfter: 30 };
  });
  const error = await client.settlement.settle(QUOTE, { signal: stop.signal }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(PaymentUndecidedError);
  expect(error).toMatchObject({ paymentAttemptId: ids()[0], quoteToken: QUOTE.quote_token });
});

describe('a quote for which the account has a settlement', () => {
  const taken = (money_moved: string) =>
    refusal(409, 'quote_already_settled', {
      money_moved,
      safe_action: 'read_settlement',
      settlement_id: 'stl_1',
    });
  const shown = (status: string, more: object = {}): Scripted => ({
    status: 200,
    body: { settlement_id: 'stl_1', status, tx_hash: null, payment_attempt_id: 'theirs', ...more },
  });
  const token = { settlement_token: 'a.b', tx_hash: 'h', redeem_expires_at: 'then' };
  const settles = (asked: readonly Asked[]) => asked.filter(({ call }) => call === 'POST /v1/settle');
  const withoutRemove = () => {
    const remove = (): never => {
      throw new Error('the attempt was removed');
    };
    return { ...memoryAttempts(), remove };
  };

  test('a paid settlement is returned, and nothing is settled again', async () => {
    const { client, asked } = await clientOf(
      ({ call }) => (call === 'POST /v1/settle' ? taken('yes') : shown('redeemed', token)),
      withoutRemove(),
    );
    expect(await client.settlement.settle(QUOTE)).toEqual({
      settlement_id: 'stl_1',
      status: 'confirmed',
      payment_attempt_id: 'theirs',
      ...token,
    });
    expect(asked.map(({ call }) => call)).toEqual(['POST /v1/settle', 'GET /v1/settlements/stl_1']);
  });

  test('a pending settlement is polled, and after it failed the same attempt may pay', async () => {
    const statuses = ['pending', 'failed'];
    const { client, asked } = await clientOf(({ call }) => {
      if (call !== 'POST /v1/settle') return shown(statuses.shift()!);
      return statuses.length === 0 ? paid : taken('unknown');
    }, withoutRemove());
    const settled = await withoutPauses(() => client.settlement.settle(QUOTE));
    const ids = settles(asked).map(({ body }) => body!.payment_attempt_id);
    expect(new Set(ids)).toEqual(new Set([settled.payment_attempt_id]));
    expect(settles(asked)).toHaveLength(3);
  });

  test.each([
    ['of another delegate', refusal(404, 'not_found'), PaidElsewhereError],
    ['with a credential that has expired meanwhile', refusal(401, 'unauthorized'), PaymentUndecidedError],
  ])('a settlement %s throws an error, and the attempt remains', async (_, answer, kind) => {
    const { client, asked } = await clientOf(
      ({ call }) => (call === 'POST /v1/settle' ? taken('yes') : answer),
      withoutRemove(),
    );
    for (let i = 0; i < 2; i += 1) {
      const error = await client.settlement.settle(QUOTE).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(kind);
      expect(error).toBeInstanceOf(PaymentUndecidedError);
      expect(error).toMatchObject({ cause: { settlementId: 'stl_1', moneyMoved: 'yes' } });
    }
    expect(new Set(settles(asked).map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
  });

  test('without money_moved "no" the attempt remains, whatever the code', async () => {
    const said = ['yes', 'unknown', undefined].map((money_moved) =>
      refusal(409, 'quote_already_settled', { money_moved, safe_action: 'stop' }),
    );
    const { client, ids } = await clientOf((_, n) => said[n]!, withoutRemove());
    for (const _ of said) await expect(client.settlement.settle(QUOTE)).rejects.toThrow(ApiError);
    expect(new Set(ids()).size).toBe(1);
  });
});

test('whether any try of a call has reached the API is known at its end', async () => {
  const unreachable = createClient({ baseUrl: 'http://127.0.0.1:1', credential: 'key' });
  const undecided = (client: typeof unreachable) =>
    client.settlement.settle(QUOTE, { patienceMs: 0 }).catch((error: unknown) => error);
  expect(await undecided(unreachable)).toMatchObject({ name: 'PaymentUndecidedError', wasSent: false });
  const { client } = await clientOf(() => 'lost');
  expect(await undecided(client)).toMatchObject({ name: 'PaymentUndecidedError', wasSent: true });
});

test('no answer to a read says that no money moved, and names the host', async () => {
  const { client, baseUrl } = await clientOf(() => paid);
  await running!.stop();
  const { settlement } = client;
  const error = await settlement.list({}).then(
    () => null,
    (each: unknown) => each,
  );
  expect(error).toMatchObject({ name: 'NoAnswerError', moneyMoved: 'no', wasSent: false });
  expect((error as Error).message).toBe(`GET ${baseUrl}/v1/settlements: no answer (ECONNREFUSED)`);
});

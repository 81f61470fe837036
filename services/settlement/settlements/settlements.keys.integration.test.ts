import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import {
  authorize,
  CEILING,
  ceilingQuote,
  extensionOf,
  record,
  voidIt,
} from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  deps,
  outcome,
  paid,
  pay,
  publishProgress,
  quote,
  startFixture,
  stopFixture,
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { acceptElsewhere, during } from '../../../test/support/fixtures/settlement-races.ts';
import { settle } from '../settling/settle.ts';

beforeAll(startFixture);
afterAll(stopFixture);

type Key = { kind: string; key: string; settlement_id: string };
const keysOf = async (settlementId: string): Promise<string[]> => {
  const { rows } = await admin.query<Key>(
    'select kind, key from settlement_keys where settlement_id = $1 order by kind',
    [settlementId],
  );
  return rows.map(({ kind, key }) => `${kind} ${key}`);
};
/** How many payments and keys there are, and how many of these lead to no payment. */
const numbers = async () => {
  const { rows } = await admin.query<{ payments: number; keys: number; orphans: number }>(
    `select (select count(*)::int from settlements) as payments, count(*)::int as keys,
      count(*) filter (where s.settlement_id is null)::int as orphans
    from settlement_keys left join settlements as s using (settlement_id)`,
  );
  return rows[0]!;
};
/** What was added since the beginning of a test. */
let before = { payments: 0, keys: 0, orphans: 0 };
beforeEach(async () => {
  before = await numbers();
});
const added = async () => {
  const now = await numbers();
  return { payments: now.payments - before.payments, keys: now.keys - before.keys, orphans: now.orphans };
};
const walletOf = async ({ account_id }: { account_id: string }) => ({
  account_id,
  wallet_id: (await deps.findWallet(account_id, null))!.wallet_id,
  delegate_id: null,
});
/** A payer whose wallet has a row. */
const known = async () => {
  const payer = consumer();
  await paid(payer, quote());
  before = await numbers();
  return payer;
};

describe('rules 1 and 2: of calls with a common key one is accepted, and the other leaves no key,', () => {
  const attempt = () => newId('evt');
  const q = () => quote();
  type Call = [{ quote_token: string }, string];
  const cases: Record<string, { calls: () => [Call, Call]; code: string }> = {
    'one attempt, two quotes': {
      calls: () =>
        ((id) =>
          [
            [q(), id],
            [q(), id],
          ] as [Call, Call])(attempt()),
      code: 'conflict',
    },
    'one attempt, a quote with a ceiling': {
      calls: () =>
        ((id) =>
          [
            [q(), id],
            [ceilingQuote(), id],
          ] as [Call, Call])(attempt()),
      code: 'conflict',
    },
    'one quote, two attempts': {
      calls: () =>
        ((one) =>
          [
            [one, attempt()],
            [one, attempt()],
          ] as [Call, Call])(q()),
      code: 'quote_already_settled',
    },
  };
  const each = Object.entries(cases).map(([name, one]) => ({ name, ...one }));

  test.each(each)('in one process: $name', async ({ calls, code }) => {
    const payer = await known();
    const handler = settle(deps);
    const all = [...calls(), [q(), attempt()] as Call].map(([{ quote_token }, payment_attempt_id]) =>
      outcome(handler({ quote_token, payment_attempt_id }, payer)),
    );
    const [first, second, bystander] = await Promise.all(all);
    expect([first, second].sort()).toEqual([code, 'ok'].sort());
    expect(bystander).toBe('ok');
    expect(await added()).toEqual({ payments: 2, keys: 4, orphans: 0 });
  });

  test.each(each)('on two connections: $name', async ({ calls, code }) => {
    const payer = await known();
    const wallet = await walletOf(payer);
    const [[first, one], [second, other]] = calls();
    const handler = settle(deps);
    // Both share a statement, which waits for the wallet and then fails by the key of the other.
    const [loser, bystander] = await during(
      (tx) => acceptElsewhere(tx, first, wallet, one),
      () =>
        Promise.all(
          (
            [
              [second, other],
              [q(), attempt()],
            ] as Call[]
          ).map(([{ quote_token }, payment_attempt_id]) =>
            outcome(handler({ quote_token, payment_attempt_id }, payer)),
          ),
        ),
    );
    expect([loser, bystander]).toEqual([code, 'ok']);
    expect(await added()).toEqual({ payments: 2, keys: 4, orphans: 0 });
  });

  test('of two payers, for one quote', async () => {
    const [payer, other] = [await known(), await known()];
    const one = q();
    const wallet = await walletOf(other);
    const loser = await during(
      (tx) => acceptElsewhere(tx, one, wallet, attempt()),
      () => outcome(pay(payer, one)),
    );
    expect(loser).toBe('quote_already_settled');
    expect(await added()).toEqual({ payments: 1, keys: 2, orphans: 0 });
  });

  test('of an extension', async () => {
    const one = await authorize();
    const payer = await walletOf(one.payer);
    const id = attempt();
    before = await numbers();
    const loser = await during(
      (tx) => acceptElsewhere(tx, q(), payer, id),
      () => outcome(pay(one.payer, extensionOf(one, 1000n), id)),
    );
    expect(loser).toBe('conflict');
    expect(await added()).toEqual({ payments: 1, keys: 2, orphans: 0 });
    expect((await record(one.id)).max).toBe(String(CEILING));
  });
});

test('rule 2: a payment that failed, or is void, has its attempt for ever and gives its quote back', async () => {
  const payer = consumer();
  const one = quote();
  const { settlementId } = await underWay(payer, one, 'failing');
  expect(await keysOf(settlementId)).toEqual([
    `attempt ${payer.account_id}/failing`,
    `quote ${one.quote_id}`,
  ]);
  await publishProgress(settlementId, 'failed', {
    failure: { code: 'payment_failed', message: 'proven' },
  });
  await until(
    () => record(settlementId),
    ({ status }) => status === 'failed',
  );
  expect(await keysOf(settlementId)).toEqual([`attempt ${payer.account_id}/failing`]);
  await paid(consumer(), one);

  const authorization = await authorize();
  await voidIt(authorization);
  expect(await keysOf(authorization.id)).toEqual([
    `attempt ${authorization.payer.account_id}/${authorization.attempt}`,
  ]);
});

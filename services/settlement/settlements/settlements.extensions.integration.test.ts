import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  authorize,
  CEILING,
  capture,
  extensionOf,
  record,
  use,
  voidIt,
} from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  callAs,
  capLimits,
  delegateOf,
  deps,
  held,
  outcome,
  pay,
  publishProgress,
  serviceKey,
  spendingOf,
  startFixture,
  stopFixture,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  consumer,
  lostCaptures,
  snapshots,
} from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { recordApproval } from '../approvals/record-approval.ts';
import { endDueAuthorizations } from '../authorizations/end-due-authorizations.ts';
import { watchAuthorizations } from '../authorizations/watch-authorizations.ts';
import { listByQuotes } from '../reading/list-by-quotes.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const ALL_LANES = new Set(Array.from({ length: 16 }, (_, lane) => lane));
const ADDED = 300_000n;
const EXTENDED = CEILING + ADDED;
type Authorized = Awaited<ReturnType<typeof authorize>>;
/** Pays an extension of an authorization. */
const extend = async (one: Authorized, amount = ADDED, payer: Authorized['payer'] = one.payer) =>
  (await pay(payer, extensionOf(one, amount), newId('evt'))) as unknown as {
    settlement_id: string;
    settlement_token: string;
    max_amount: string;
    extension_id: string;
  };
const extensionsOf = async (id: string) => {
  const { rows } = await admin.query<{ extension_id: string; amount: string }>(
    'select extension_id, amount::text as amount from extensions where settlement_id = $1 order by extension_id',
    [id],
  );
  return rows;
};
const messagesOf = async (id: string, subject: string) => {
  const { rows } = await admin.query<{ payload: Record<string, unknown> }>(
    `select payload from outbox where subject like $2 and payload ->> 'settlement_id' = $1
     order by outbox_id`,
    [id, subject],
  );
  return rows.map(({ payload }) => payload);
};

/** Captures until it is decided, and does not wait for the chain. */
const capturing = async (one: Authorized): Promise<void> => {
  void outcome(capture(one));
  await untilChainStatus(one.id, 'pending');
};

describe('an extension', () => {
  test('rule 24: adds to ceiling and hold in one commit, and the answer is about the authorization', async () => {
    const one = await authorize();
    const q = extensionOf(one, ADDED);
    const attempt = newId('evt');
    const answer = await pay(one.payer, q, attempt);
    expect(answer).toEqual({ ...one.answer, max_amount: String(EXTENDED), extension_id: expect.any(String) });
    expect(await record(one.id)).toMatchObject({
      ...{
        status: 'authorized',
        amount: String(EXTENDED),
        max: String(EXTENDED),
        fee: '10000',
        holding: true,
      },
    });
    expect(await held(one.payer)).toBe(EXTENDED);
    expect(await extensionsOf(one.id)).toEqual([
      { extension_id: (answer as unknown as { extension_id: string }).extension_id, amount: String(ADDED) },
    ]);
    expect(await use(one, { usage_id: 'a', amount: String(EXTENDED) })).toMatchObject({
      ...{ max_amount: String(EXTENDED), left: '0' },
    });
  });

  test('rule 25: counts once under any repeat, and its quote pays nothing else', async () => {
    const one = await authorize();
    const q = extensionOf(one, ADDED);
    const attempt = newId('evt');
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay(one.payer, q, attempt)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toHaveProperty('size', 1);
    expect(await outcome(pay(one.payer, q))).toBe('quote_already_settled');
    expect(await outcome(pay(consumer(), q))).toBe('quote_already_settled');
    expect(await outcome(pay(one.payer, extensionOf(one, ADDED), attempt))).toBe('conflict');
    expect(await outcome(pay(one.payer, extensionOf(one, ADDED), one.attempt))).toBe('conflict');
    expect(await held(one.payer)).toBe(EXTENDED);
    expect(await extensionsOf(one.id)).toHaveLength(1);
  });

  test('rule 25: it is a part of its authorization, which its attempt and its quote find, and no settlement', async () => {
    const one = await authorize();
    const [first, second] = [extensionOf(one, ADDED), extensionOf(one, 1000n)];
    const attempts = [newId('evt'), newId('evt')] as const;
    await pay(one.payer, first, attempts[0]);
    await pay(one.payer, second, attempts[1]);
    const extensions = [
      { extension_id: expect.any(String), quote_id: first.quote_id, amount: String(ADDED) },
      { extension_id: expect.any(String), quote_id: second.quote_id, amount: '1000' },
    ];
    type Shown = {
      settlement_id: string;
      extensions: { extension_id: string; payment_attempt_id?: string }[];
    };
    const shown = await callAs<Shown>(one.payer, 'get', { settlement_id: one.id });
    expect(shown.extensions).toMatchObject(extensions);
    expect(shown.extensions.map(({ payment_attempt_id }) => payment_attempt_id)).toEqual([...attempts]);
    const ofVendor = await callAs<Shown>(serviceKey, 'get', { settlement_id: one.id });
    expect(ofVendor.extensions).toMatchObject(extensions);
    expect(ofVendor.extensions[0]).not.toHaveProperty('payment_attempt_id');
    const { data } = await callAs<{ data: Shown[] }>(one.payer, 'list', { payment_attempt_id: attempts[1] });
    expect(data.map(({ settlement_id }) => settlement_id)).toEqual([one.id]);
    expect((await callAs<{ data: Shown[] }>(one.payer, 'list', {})).data).toHaveLength(1);
    const [{ extension_id }] = shown.extensions as [Shown['extensions'][number]];
    expect(await outcome(callAs(one.payer, 'get', { settlement_id: extension_id }))).not.toBe('ok');
  });

  test('rule 26: the capture is one payment, whose job names every extension, and releases the rest', async () => {
    const one = await authorize();
    const tokens = [extensionOf(one, ADDED), extensionOf(one, 1000n)];
    for (const token of tokens) await pay(one.payer, token, newId('evt'));
    await use(one, { usage_id: 'a', amount: '700000' });
    const answer = capture(one);
    await untilChainStatus(one.id, 'pending');
    const [job] = await messagesOf(one.id, 'job.%');
    expect(job).toMatchObject({
      capture_amount: '700000',
      extension_tokens: tokens.map(({ quote_token }) => quote_token),
    });
    expect(await held(one.payer)).toBe(700_000n);
    await publishProgress(one.id, 'confirmed');
    expect(await answer).toMatchObject({ captured_amount: '700000', max_amount: String(EXTENDED + 1000n) });
    expect(await held(one.payer)).toBe(0n);
  });

  test('a void releases the addition, and a repeat of the extension says what became of it', async () => {
    const one = await authorize();
    const q = extensionOf(one, ADDED);
    const attempt = newId('evt');
    await pay(one.payer, q, attempt);
    await voidIt(one);
    expect(await held(one.payer)).toBe(0n);
    await expect(pay(one.payer, q, attempt)).rejects.toMatchObject({
      extras: { money_moved: 'no', settlement_id: one.id },
    });
  });

  test('accounts get an event for each', async () => {
    const one = await authorize();
    const first = await extend(one);
    const second = await extend(one, 1000n);
    expect(await messagesOf(one.id, '%settlement.extended')).toMatchObject([
      { extension_id: first.extension_id, added: String(ADDED), quote_amount: String(EXTENDED) },
      { extension_id: second.extension_id, added: '1000', quote_amount: String(EXTENDED + 1000n) },
    ]);
  });
});

describe('rule 24: an extension is refused, and holds nothing,', () => {
  const refused = async (one: Authorized, payer?: Authorized['payer'], amount = ADDED) => {
    const before = await held(one.payer);
    const code = await outcome(extend(one, amount, payer));
    expect(await held(one.payer)).toBe(before);
    expect(await extensionsOf(one.id)).toEqual([]);
    return code;
  };

  test('of an authorization that is void, due, being captured or at risk', async () => {
    const gone = await authorize();
    await voidIt(gone);
    expect(await refused(gone)).toBe('authorization_closed');
    const due = await authorize();
    await admin.query('update authorizations set due_at = app_now() where settlement_id = $1', [due.id]);
    expect(await refused(due)).toBe('authorization_closed');
    const capturing = await authorize();
    await use(capturing, { usage_id: 'a', amount: '20000' });
    const captured = capture(capturing);
    await untilChainStatus(capturing.id, 'pending');
    expect(await refused(capturing)).toBe('authorization_closed');
    await publishProgress(capturing.id, 'confirmed');
    await captured;
    const risky = await authorize();
    snapshots.set(risky.payer.owner!, { balance: 1n, allowance: 1n, slot: 5000 });
    await watchAuthorizations({ ...deps, ownedLanes: () => ALL_LANES })();
    expect(await refused(risky)).toBe('authorization_closed');
  });

  test('by another account, another credential of the account, or for another day', async () => {
    const one = await authorize();
    expect(await refused(one, consumer())).toBe('authorization_closed');
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: EXTENDED });
    const own = await authorize({}, payer);
    expect(await refused(own, delegate)).toBe('authorization_closed');
    await admin.query('update settlements set delegate_day = delegate_day - 1 where settlement_id = $1', [
      own.id,
    ]);
    expect(await refused(own)).toBe('authorization_closed');
  });

  test('beyond a limit, the allowance, the balance, or the cap of what one tab may authorize', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: EXTENDED - 1n });
    expect(await refused(await authorize({}, delegate))).toBe('limit_exceeded');
    expect(await refused(await authorize({}, consumer(EXTENDED - 1n)))).toBe('insufficient_funds');
    expect(await refused(await authorize({}, consumer(EXTENDED, EXTENDED - 1n)))).toBe('delegation_inactive');
    const one = await authorize();
    const cap = deps.tabCaps.amountMicro;
    expect(await refused(one, undefined, cap - CEILING + 1n)).toBe('conflict');
  });

  test('after as many as the job of a capture can name', async () => {
    const one = await authorize();
    await Promise.all(Array.from({ length: 20 }, () => extend(one, 1000n)));
    expect(await outcome(extend(one, 1000n))).toBe('authorization_closed');
    expect(await record(one.id)).toMatchObject({ max: String(CEILING + 20_000n) });
  });
});

test('the limits of a delegate count the addition, and get back what is not captured', async () => {
  const payer = consumer();
  const delegate = await delegateOf(payer, { daily: EXTENDED });
  const one = await authorize({}, delegate);
  await extend(one);
  expect(await spendingOf(delegate)).toMatchObject({ usage: { daily: { held: String(EXTENDED) } } });
  await use(one, { usage_id: 'a', amount: '600000' });
  const answer = capture(one);
  await untilChainStatus(one.id, 'pending');
  await publishProgress(one.id, 'confirmed');
  await answer;
  expect(await spendingOf(delegate)).toMatchObject({ usage: { daily: { held: '0', spent: '600000' } } });
});

test('an owner approves the addition, not the whole ceiling', async () => {
  const payer = consumer();
  const delegate = await delegateOf(payer, {}, null, { approval_above: String(ADDED - 1n) });
  const one = await authorize({}, delegate, ADDED - 1n);
  const more = extensionOf(one, ADDED);
  const attempt = newId('evt');
  expect(await outcome(pay(delegate, more, attempt))).toBe('approval_required');
  expect(await held(payer)).toBe(ADDED - 1n);
  const { data } = await callAs<{ data: { approval_id: string; amount: string }[] }>(
    delegate,
    'listApprovals',
    {},
  );
  expect(data).toMatchObject([{ amount: String(ADDED) }]);
  const { account_id } = payer;
  await recordApproval(deps)({ account_id, approval_id: data[0]!.approval_id, passkey_id: 'pk_1' });
  expect(await outcome(pay(delegate, more, attempt))).toBe('ok');
  expect(await held(payer)).toBe(2n * ADDED - 1n);
});

test('64 extensions at once, with room for ten, add to the ceiling ten times', async () => {
  const payer = consumer(CEILING + 10n * 10_000n);
  const one = await authorize({}, payer);
  const outcomes = await Promise.all(Array.from({ length: 64 }, () => outcome(extend(one, 10_000n))));
  expect(outcomes.filter((each) => each === 'ok')).toHaveLength(10);
  expect(new Set(outcomes)).toEqual(new Set(['ok', 'insufficient_funds']));
  expect(await held(payer)).toBe(CEILING + 100_000n);
  expect(await record(one.id)).toMatchObject({ max: String(CEILING + 100_000n) });
});

test('extensions against use, void and capture: what is held is what the rows say', async () => {
  for (let round = 0; round < 20; round += 1) {
    const one = await authorize();
    await use(one, { usage_id: 'first', amount: '20000' });
    const isVoid = round % 2 === 1;
    const extensions = Array.from({ length: 4 }, () => outcome(extend(one, 50_000n)));
    const end = isVoid ? outcome(voidIt(one, { discard_usage: true })) : capturing(one);
    const uses = Array.from({ length: 4 }, (_, at) =>
      outcome(use(one, { usage_id: `u${at}`, amount: '200000' })),
    );
    const accepted = (await Promise.all(extensions)).filter((each) => each === 'ok').length;
    await Promise.all(uses);
    await end;
    // Use came in between, so that it was refused.
    if (isVoid) await voidIt(one, { discard_usage: true });
    else {
      const { amount } = await record(one.id);
      expect(await held(one.payer)).toBe(BigInt(amount));
      await publishProgress(one.id, 'confirmed');
      await untilChainStatus(one.id, 'confirmed');
    }
    expect(await held(one.payer)).toBe(0n);
    expect(await record(one.id)).toMatchObject({ max: String(CEILING + BigInt(accepted) * 50_000n) });
    expect(await extensionsOf(one.id)).toHaveLength(accepted);
  }
});

test('the hourly caps count an extension', async () => {
  const before = { ...capLimits };
  capLimits.walletMicro = CEILING + 1n;
  const one = await authorize();
  try {
    expect(await outcome(extend(one))).toBe('service_unavailable');
  } finally {
    Object.assign(capLimits, before);
  }
  expect(await held(one.payer)).toBe(CEILING);
});

test('rule 21: a capture beyond the ceiling, whose extension a restore has lost, is recorded as the chain has it', async () => {
  const one = await authorize();
  lostCaptures.set(one.q.quote_token, '700000');
  await admin.query('insert into restores (taken_at) values (app_now())');
  await admin.query('update authorizations set due_at = app_now() where settlement_id = $1', [one.id]);
  await endDueAuthorizations(deps)();
  expect(await record(one.id)).toMatchObject({ status: 'capturing', amount: '700000', max: '700000' });
  expect(await held(one.payer)).toBe(700_000n);
  await publishProgress(one.id, 'confirmed');
  expect(await capture(one)).toMatchObject({ status: 'confirmed', captured_amount: '700000' });
  expect(await held(one.payer)).toBe(0n);
});

test('the quote of an extension follows its authorization: it is not paid if that ends void or fails', async () => {
  const [voided, failed, paid] = [await authorize(), await authorize(), await authorize()];
  const quotes: string[] = [];
  for (const one of [voided, failed, paid]) {
    const extension = extensionOf(one, ADDED);
    await pay(one.payer, extension, newId('evt'));
    quotes.push(extension.quote_id);
  }
  const lastEvents = async () => {
    const input = { quotes: quotes.map((quote_id) => ({ quote_id, settlement_id: null })) };
    const answers = await listByQuotes(deps)(input);
    return quotes.map((id) => answers.find(({ quote_id }) => quote_id === id)?.last_event);
  };
  expect(await lastEvents()).toEqual(['accepted', 'accepted', 'accepted']);
  await voidIt(voided);
  for (const one of [failed, paid]) {
    await use(one, { usage_id: 'a', amount: '100000' });
    void outcome(capture(one));
    await waitUntil(async () => (await record(one.id)).status === 'capturing');
  }
  const failure = { code: 'payment_failed' as const, message: 'it can no longer be included' };
  await publishProgress(failed.id, 'failed', { tx_hash: null, slot: null, failure });
  await publishProgress(paid.id, 'confirmed');
  await untilChainStatus(failed.id, 'failed');
  await untilChainStatus(paid.id, 'confirmed');
  expect(await lastEvents()).toEqual(['failed', 'failed', 'issued']);
});

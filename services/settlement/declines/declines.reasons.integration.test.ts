import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import { list, type Payer, payWith, refusal } from '../../../test/support/fixtures/settlement/declines.ts';
import {
  database,
  delegateOf,
  deps,
  outcome,
  paid,
  pay,
  quote,
  startFixture,
  stopFixture,
  underWay,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, frozen } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { denyApproval } from '../approvals/deny-approval.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const USDC = 1_000_000n;

describe('the reason of a decline', () => {
  const cases: Record<
    string,
    {
      code: string;
      limit?: readonly [asked: bigint, limit: bigint, left: bigint];
      decline: () => Promise<[Payer, Promise<unknown>]>;
    }
  > = {
    per_payment: {
      code: 'limit_exceeded',
      limit: [5n, 2n, 2n],
      decline: async () => {
        const delegate = await delegateOf(consumer(), { per_payment: 2n * USDC });
        return [delegate, pay(delegate, quote(5n * USDC))];
      },
    },
    daily: {
      code: 'limit_exceeded',
      limit: [5n, 6n, 4n],
      decline: async () => {
        const delegate = await delegateOf(consumer(), { daily: 6n * USDC });
        await paid(delegate, quote(2n * USDC));
        return [delegate, pay(delegate, quote(5n * USDC))];
      },
    },
    monthly: {
      code: 'limit_exceeded',
      limit: [5n, 6n, 3n],
      decline: async () => {
        const delegate = await delegateOf(consumer(), { monthly: 6n * USDC });
        // A payment under way counts too.
        await underWay(delegate, quote(3n * USDC));
        return [delegate, pay(delegate, quote(5n * USDC))];
      },
    },
    total: {
      code: 'limit_exceeded',
      limit: [5n, 4n, 0n],
      decline: async () => {
        const delegate = await delegateOf(consumer(), { total: 4n * USDC });
        await paid(delegate, quote(4n * USDC));
        return [delegate, pay(delegate, quote(5n * USDC))];
      },
    },
    balance: {
      code: 'insufficient_funds',
      limit: [5n, 7n, 4n],
      decline: async () => {
        const payer = consumer(7n * USDC);
        await underWay(payer, quote(3n * USDC));
        return [payer, pay(payer, quote(5n * USDC))];
      },
    },
    allowance: {
      code: 'delegation_inactive',
      limit: [5n, 1n, 1n],
      decline: async () => {
        const payer = consumer(100n * USDC, 1n * USDC);
        return [payer, pay(payer, quote(5n * USDC))];
      },
    },
    service_not_allowed: {
      code: 'forbidden',
      decline: async () => {
        const delegate = await delegateOf(consumer(), {}, [crypto.randomUUID()]);
        return [delegate, pay(delegate, quote())];
      },
    },
    delegate_paused: {
      code: 'forbidden',
      decline: async () => {
        const delegate = await delegateOf(consumer(), {}, null, { paused: true });
        return [delegate, pay(delegate, quote())];
      },
    },
    delegate_unknown: {
      code: 'forbidden',
      decline: async () => {
        const delegate = { ...(await delegateOf(consumer())), delegate_id: newId('del') };
        return [delegate, pay(delegate, quote())];
      },
    },
    account_frozen: {
      code: 'forbidden',
      decline: async () => {
        const payer = consumer();
        return [payer, pay({ ...payer, frozen: true } as Principal, quote())];
      },
    },
    vendor_frozen: {
      code: 'conflict',
      decline: async () => {
        const payer = consumer();
        frozen.add(vendor.account_id);
        const answer = pay(payer, quote());
        await outcome(answer);
        frozen.clear();
        return [payer, answer];
      },
    },
    own_quote: {
      code: 'conflict',
      decline: async () => {
        const payer = consumer();
        return [payer, payWith({ feeWallet: payer.owner }, payer, quote())];
      },
    },
    quote_expired: {
      code: 'quote_expired',
      decline: async () => {
        const payer = consumer();
        return [payer, pay(payer, quote(USDC, { expiresInMs: -1 }))];
      },
    },
    approval_denied: {
      code: 'approval_denied',
      decline: async () => {
        const payer = consumer();
        const delegate = await delegateOf(payer, {}, null, { approval_above: '1' });
        const q = quote();
        const { extras } = await refusal(pay(delegate, q, 'asks'));
        await denyApproval(deps)({ approval_id: extras.approval_id! }, payer as never);
        expect(await list(delegate)).toEqual([]);
        return [delegate, pay(delegate, q, 'asks')];
      },
    },
    approval_expired: {
      code: 'approval_expired',
      decline: async () => {
        const delegate = await delegateOf(consumer(), {}, null, { approval_above: '1' });
        const q = quote();
        await refusal(pay(delegate, q, 'asks'));
        const answer = database.withClock('11 minutes', () => pay(delegate, q, 'asks'));
        await outcome(answer);
        return [delegate, answer];
      },
    },
    payments_paused: {
      code: 'service_unavailable',
      decline: async () => {
        const payer = consumer();
        return [payer, payWith({ isPaused: async () => true }, payer, quote())];
      },
    },
    fee_budget: {
      code: 'service_unavailable',
      decline: async () => {
        const payer = consumer();
        return [payer, payWith({ budgetRefillsInSeconds: async () => 60 }, payer, quote())];
      },
    },
    hourly_cap: {
      code: 'service_unavailable',
      decline: async () => {
        const payer = consumer();
        const caps = { ...deps.caps, reserve: async () => ({ reached: 'wallet', capMicro: 10n * USDC }) };
        return [payer, payWith({ caps }, payer, quote())];
      },
    },
  };

  test.each(Object.entries(cases))('%s: recorded with code and figures', async (reason, each) => {
    const [payer, answer] = await each.decline();
    const { code, extras } = await refusal(answer);
    expect(code).toBe(each.code);
    const [asked, limit, left] = (each.limit ?? []).map((usdc) => `${usdc * USDC}`);
    const figures =
      each.limit === undefined
        ? null
        : {
            ...{ asked, limit, left },
            resets_at: ['daily', 'monthly'].includes(reason) ? expect.stringMatching(/T00:00:00/) : null,
          };
    expect(extras.limit).toEqual(figures === null ? undefined : { name: reason, ...figures });
    expect(await list(payer)).toEqual([
      {
        decline_id: expect.stringMatching(/^dcl_/),
        quote_id: expect.any(String),
        service_id: vendor.service_id,
        service_name: 'Weather',
        item: null,
        amount: asked ?? '1000000',
        code,
        created_at: expect.any(String),
        delegate_id: payer.kind === 'delegate_key' ? payer.delegate_id : null,
        payment_attempt_id: expect.any(String),
        reason,
        limit: figures,
      },
    ]);
  });
});

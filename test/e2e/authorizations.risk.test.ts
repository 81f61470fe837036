import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Consumer, createConsumer, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { withdraw } from '../../deploy/local/seed/transfers.ts';
import { signPrepared } from '../../deploy/local/seed/wallet.ts';
import { rpcAt } from '../faults/access.ts';
import { actionsOf } from '../faults/owner-actions.ts';
import { createTabHarness, refusal, type TabHarness } from '../support/actors/tab-harness.ts';
import { waitFor } from '../support/base/wait.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Authorizations of buyers who take the money or the permission away, on the real chain. */
const stack = runningStack();
const environment = stack.environments.test!;
const chain = chainOf(environment);

let harness: TabHarness;
let { api, vendor, buyer, calls, open, untilStatus, eventsOf }: TabHarness = {} as never;
beforeAll(async () => {
  harness = await createTabHarness(stack);
  ({ api, vendor, buyer, calls, open, untilStatus, eventsOf } = harness);
});
afterAll(() => harness.stop());

/** What the owner of a wallet does to it, while two of its tabs are open. */
const deeds = {
  'empties the wallet outside of the platform': async ({ wallet }: Consumer) => {
    await actionsOf({ chain, rpc: rpcAt(environment.rpc_url) }, wallet).emptied();
  },
  'gives the allowance to another delegate': async ({ wallet, view }: Consumer) => {
    const { overwritten } = actionsOf({ chain, rpc: rpcAt(environment.rpc_url) }, wallet);
    await overwritten(view.delegation.delegate!, 100_000_000n);
  },
  'revokes the allowance': async ({ token, wallet, walletId }: Consumer) => {
    const path = `POST /v1/wallets/${walletId}/revoke` as const;
    const prepare = api<{ transaction: string }>(path, { token, body: {} });
    const { transaction } = await must(prepare, 'revoke');
    await must(api(path, { token, body: { transaction: signPrepared(transaction, wallet) } }), 'revoke');
  },
};

test.each(Object.entries(deeds))(
  'a buyer who %s: use is refused, and its tabs are closed',
  async (_name, act) => {
    const cheater = await createConsumer(api, stack);
    const [tab, unused] = [await open({}, cheater.token), await open({}, cheater.token)];
    await calls.use(tab, { usage_id: 'one', amount: '60000' });
    await act(cheater);
    const closed = await waitFor(
      () => calls.verify(tab),
      ({ authorization }) => authorization.at_risk_at !== null,
    );
    expect(closed.authorization.left).toBe('0');
    expect(refusal(await calls.use(tab, { usage_id: 'two', amount: '1' }))[1]).toBe('authorization_closed');
    // Nothing is left that could pay.
    expect(await untilStatus(tab, 'failed')).toMatchObject({ authorization: { used: '60000' } });
    await untilStatus(unused, 'voided');
    const events = await eventsOf(tab, 'settlement.at_risk', 'settlement.failed');
    expect(events.get('settlement.at_risk')).toMatchObject({ used: '60000', role: 'vendor' });
    expect(events.get('settlement.failed')).toMatchObject({ used: '60000' });
    const refused = await calls.authorize(cheater.token, await calls.quote());
    expect(['insufficient_funds', 'delegation_inactive']).toContain(refused.body.error?.code);
  },
);

test('a buyer whose wallet still covers what was used pays it, and only the rest is refused', async () => {
  const spender = await createConsumer(api, stack, { balance: 900_000n });
  const tab = await open({}, spender.token);
  await calls.use(tab, { usage_id: 'one', amount: '60000' });
  // Another payment of the platform cannot take what is held; the owner can.
  const price = { quote_amount: '450000' };
  const other = await settleWith(api, spender.token, await quoteOf(api, vendor, price));
  expect(other.body.error?.code).toBe('insufficient_funds');
  const to = buyer.wallet.publicKey.toBase58();
  await withdraw(api, spender, { amount: 800_000n, to });
  expect(await untilStatus(tab, 'redeemed')).toMatchObject({ quote_amount: '60000' });
  expect(await chain.balance(spender.wallet.publicKey)).toBe(40_000n);
});

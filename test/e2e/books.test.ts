import { expect, test } from '@jest/globals';
import { createConsumer, createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { refund } from '../../deploy/local/seed/transfers.ts';
import { amountsOf, type Booking, readBookings, type Span } from '../../sdk/src/books.ts';
import { createClient } from '../../sdk/src/main.ts';
import { waitFor } from '../support/base/wait.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The books that the console exports, against the list of transactions: another record. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

test('the books of spans that follow one another have each sale and refund once, and add up to the ledger', async () => {
  const [vendor, other, buyer] = await Promise.all([
    createVendor(api, stack),
    createVendor(api, stack),
    createConsumer(api, stack),
  ]);
  const buy = async () => must(settleWith(api, buyer.token, await quoteOf(api, vendor)), 'settle');
  const [first, second] = [await buy(), await buy()];
  await refund(api, vendor, first.settlement_id, 1_000_000n);
  const third = await buy();
  await refund(api, vendor, first.settlement_id, 400_000n);
  await refund(api, vendor, second.settlement_id);
  // What the vendor buys, and gets back, is no booking of it. Nor is a quote that nobody pays.
  await quoteOf(api, vendor);
  const client = createClient({ baseUrl: stack.gateway_url, credential: vendor.signIn.access_token });
  const read = (span: Span) => readBookings(client, span);
  const whole = await read({ from: 0, until: Number.POSITIVE_INFINITY });
  const nameOf = ({ settlement, refund: given }: Booking) => given?.refund_id ?? settlement.settlement_id;
  expect(whole.map(({ settlement, refund: given }) => [settlement.settlement_id, given?.amount])).toEqual([
    [second.settlement_id, '2487500'],
    [first.settlement_id, '400000'],
    [third.settlement_id, undefined],
    [first.settlement_id, '1000000'],
    [second.settlement_id, undefined],
    [first.settlement_id, undefined],
  ]);
  expect(new Set(whole.map(({ settlement }) => settlement.payer_address))).toEqual(
    new Set([buyer.wallet.publicKey.toBase58()]),
  );

  // Each movement begins a span of its own. So each refund is apart from its sale.
  const begins = [0, ...whole.map(({ at }) => Date.parse(at)).reverse(), Number.POSITIVE_INFINITY];
  const spans = begins.slice(0, -1).map((from, at) => ({ from, until: begins[at + 1]! }));
  const parts = await Promise.all(spans.map(read));
  expect(parts.map((part) => part.map(nameOf))).toEqual([
    [],
    ...whole.map((booking) => [nameOf(booking)]).reverse(),
  ]);

  type Moved = { object_id: string; direction: 'in' | 'out'; amount: string; created_at: string };
  const { data: ledger } = await waitFor(
    () =>
      must(
        api<{ data: Moved[] }>('GET /v1/transactions?limit=100', { token: vendor.signIn.access_token }),
        'list',
      ),
    ({ data }) => data.length === whole.length,
  );
  const signed = ({ direction, amount }: Moved) => (direction === 'in' ? BigInt(amount) : -BigInt(amount));
  expect(parts.flat().map((booking) => [nameOf(booking), booking.at, amountsOf(booking).net])).toEqual(
    ledger.map((each) => [each.object_id, each.created_at, signed(each)]).reverse(),
  );

  const foreign = createClient({ baseUrl: stack.gateway_url, credential: buyer.token });
  const all = { from: 0, until: Number.POSITIVE_INFINITY };
  expect(await readBookings(foreign, all)).toEqual([]);
  expect(await readBookings(client, all, { serviceId: other.serviceId })).toEqual([]);
});

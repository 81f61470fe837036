import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { type AlteredRpc, startAlteredRpc } from '../../../test/support/altered-rpc.ts';
import { incomingPaymentsOver, PRICE, reasonOf } from '../../../test/support/incoming-payments.ts';
import { smartWalletsOver } from '../../../test/support/smart-wallets.ts';
import { standIns } from '../../../test/support/stand-in-programs.ts';
import { type Payer, type SubmitterFixture, startSubmitterFixture } from '../../../test/support/submitter.ts';
import { staysFor, waitFor } from '../../../test/support/wait.ts';

/** Payments of smart wallets where a provider says something else about them than the chain. */
let fixture: SubmitterFixture;
let vendor: Payer;
let altered: AlteredRpc;
beforeAll(async () => {
  fixture = await startSubmitterFixture({ programs: ({ feePayer }) => standIns(feePayer.address) });
  altered = await startAlteredRpc(fixture.chain.url);
  vendor = await fixture.payer(1n);
}, 60_000);
afterEach(() => altered.alterBy((_method, result) => result));
afterAll(async () => {
  altered.stop();
  await fixture.stop();
});

const { signed, check, submit, countSigned } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const { wallet, lookupTable } = smartWalletsOver(() => fixture);
const payment = async (amount: bigint) => {
  const from = await wallet(PRICE);
  const buyer: Payer = { owner: from.holder, account_id: '', wallet_id: '' };
  return signed(buyer, { instead: [from.pay(vendor.owner.publicKey, amount)] });
};

type Balance = { uiTokenAmount: { amount: string } };
type Meta = { preTokenBalances?: Balance[] | null; postTokenBalances?: Balance[] | null };
/** As if the larger balances had changed by so much more. */
const changedBy = ({ preTokenBalances, postTokenBalances, ...meta }: Meta, micro: bigint): Meta => ({
  ...meta,
  preTokenBalances: preTokenBalances!,
  postTokenBalances: postTokenBalances!.map((after, index) => {
    const before = BigInt(preTokenBalances![index]!.uiTokenAmount.amount);
    const now = BigInt(after.uiTokenAmount.amount);
    if (now === before) return after;
    const amount = `${now > before ? now + micro : now - micro}`;
    return { ...after, uiTokenAmount: { ...after.uiTokenAmount, amount } };
  }),
});

test('one provider alone cannot make a payment that pays too little look paid', async () => {
  const service = await fixture.start({ SOLANA_RPC_URLS: `${altered.url},${fixture.chain.url}` });
  altered.alterBy((method, result) => {
    if (method !== 'simulateTransaction') return result;
    const { value, ...rest } = result as { value: Meta };
    return { ...rest, value: value.preTokenBalances ? changedBy(value, 1n) : value };
  });
  const [less, id] = [await payment(PRICE - 1n), newId('stl')];
  expect([reasonOf(await check(less)), reasonOf(await submit(less, id))]).toEqual([
    'amount_mismatch',
    'amount_mismatch',
  ]);
  expect(await countSigned(id)).toBe(0);
  await service.stop();
});

test('providers that disagree about a lookup table have nothing signed', async () => {
  const service = await fixture.start({ SOLANA_RPC_URLS: `${altered.url},${fixture.chain.url}` });
  const { account } = await lookupTable([
    fixture.outside.tokenAccount(vendor.owner.publicKey),
    fixture.outside.mint,
  ]);
  altered.alterBy((method, result) => {
    if (method !== 'getMultipleAccounts') return result;
    type Accounts = { value: ({ data: [string, string]; owner: string } | null)[] };
    const { value, ...rest } = result as Accounts;
    const invented = value.map((one) => {
      if (one?.owner !== 'AddressLookupTab1e1111111111111111111111111') return one;
      const data = Buffer.from(one.data[0], 'base64');
      data[56]! ^= 1;
      return { ...one, data: [data.toString('base64'), 'base64'] };
    });
    return { ...rest, value: invented };
  });
  const buyer = await fixture.payer(PRICE);
  const withTable = await signed(buyer, { tables: [account] });
  await expect(check(withTable)).rejects.toMatchObject({ code: 'service_unavailable' });
  await service.stop();
});

test('a payment that was included with other balance changes waits, and counts once they are right', async () => {
  const service = await fixture.start({ SOLANA_RPC_URLS: altered.url });
  altered.alterBy((method, result) => {
    if (method !== 'getTransaction' || result === null) return result;
    const { meta, ...rest } = result as { meta: Meta };
    return { ...rest, meta: changedBy(meta, -1n) };
  });
  const [whole, id] = [await payment(PRICE), newId('stl')];
  expect(reasonOf(await submit(whole, id))).toBe('submitted');
  await waitFor(
    () => service.output(),
    (output) => output.includes('balances differ from the order, it waits'),
  );
  await staysFor(
    500,
    () => fixture.events.of(id).filter(({ status }) => status === 'confirmed' || status === 'failed'),
    (events) => events.length === 0,
  );
  altered.alterBy((_method, result) => result);
  await fixture.events.wait(id, 'finalized');
  await service.stop();
});

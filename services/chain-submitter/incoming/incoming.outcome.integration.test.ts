import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor, waitFor } from '../../../test/support/base/wait.ts';
import {
  incomingPaymentsOver,
  PRICE,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import { smartWalletsOver } from '../../../test/support/fixtures/chain-submitter/smart-wallets.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';
import { type AlteredRpc, startAlteredRpc } from '../../../test/support/stand-ins/altered-rpc.ts';
import { IDLE, SWIG, standIns } from '../../../test/support/stand-ins/stand-in-programs.ts';
import { PROGRAMS } from '../chain/addresses.ts';

/** Payments of smart wallets where a provider says something else about them than the chain. */
let fixture: SubmitterFixture;
let vendor: Payer;
let altered: AlteredRpc;
beforeAll(async () => {
  fixture = await startSubmitterFixture({ programs: ({ feePayer }) => standIns(feePayer.address) });
  altered = await startAlteredRpc(fixture.chain.url);
  vendor = await fixture.payer(1n);
});
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
const payment = async (amount: bigint, beside?: TransactionInstruction) => {
  const from = await wallet(PRICE);
  const buyer: Payer = { owner: from.holder, account_id: '', wallet_id: '' };
  const pay = from.pay(vendor.owner.publicKey, amount);
  return signed(buyer, { instead: beside === undefined ? [pay] : [pay, beside] });
};
/** An instruction of a listed program that does nothing, and names an account. */
const naming = (pubkey: PublicKey) =>
  new TransactionInstruction({
    programId: new PublicKey(IDLE),
    keys: [{ pubkey, isSigner: false, isWritable: false }],
    data: Buffer.alloc(0),
  });

type Balance = { uiTokenAmount: { amount: string } };
type Meta = { preTokenBalances?: Balance[] | null; postTokenBalances?: Balance[] | null };
type Simulated = Meta & { accounts?: (object | null)[] | null };
const EMPTY = { lamports: 1, data: ['', 'base64'], rentEpoch: 0, space: 0 };
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

/** Changes what the first provider says of a simulation with balances. */
const lieBy = (change: (said: Simulated) => object) =>
  altered.alterBy((method, result) => {
    if (method !== 'simulateTransaction') return result;
    const { value, ...rest } = result as { value: Simulated };
    return { ...rest, value: value.preTokenBalances ? change(value) : value };
  });
const ofSomebody = (balances: Balance[] | null | undefined) =>
  balances!.map((balance) => ({ ...balance, owner: vendor.owner.publicKey.toBase58() }));

describe('one provider of two that says of a payment by a smart wallet', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await fixture.start({ SOLANA_RPC_URLS: `${altered.url},${fixture.chain.url}` });
  });
  afterAll(() => service.stop());

  test.each<[string, (said: Simulated) => object, () => ReturnType<typeof payment>, string]>([
    [
      'that it pays all, where it pays too little',
      (said) => changedBy(said, 1n),
      () => payment(PRICE - 1n),
      'amount_mismatch',
    ],
    [
      'that somebody else owns the account that pays',
      ({ preTokenBalances, postTokenBalances, ...said }) => ({
        ...said,
        preTokenBalances: ofSomebody(preTokenBalances),
        postTokenBalances: ofSomebody(postTokenBalances),
      }),
      () => payment(PRICE),
      'unknown_instruction',
    ],
    [
      'that a reference is an account of the wallet',
      ({ accounts, ...said }) => ({
        ...said,
        accounts: accounts!.map((account) => account ?? { owner: SWIG, executable: false, ...EMPTY }),
      }),
      () => payment(PRICE, naming(Keypair.generate().publicKey)),
      'unknown_instruction',
    ],
  ])('%s, has nothing signed', async (_name, change, make, reason) => {
    lieBy(change);
    const [one, id] = [await make(), newId('stl')];
    expect([reasonOf(await check(one)), reasonOf(await submit(one, id))]).toEqual([reason, reason]);
    expect(await countSigned(id)).toBe(0);
  });

  test('nothing about balances, has nothing signed until it does', async () => {
    lieBy(({ preTokenBalances: _, ...said }) => said);
    const [one, id] = [await payment(PRICE), newId('stl')];
    await expect(submit(one, id)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await countSigned(id)).toBe(0);
    altered.alterBy((_method, result) => result);
    expect(reasonOf(await submit(one, id))).toBe('submitted');
    await fixture.events.wait(id, 'finalized');
  });

  test('other addresses in a lookup table has nothing signed', async () => {
    const { account } = await lookupTable([
      fixture.outside.tokenAccount(vendor.owner.publicKey),
      fixture.outside.mint,
    ]);
    altered.alterBy((method, result) => {
      if (method !== 'getMultipleAccounts') return result;
      type Accounts = { value: ({ data: [string, string]; owner: string } | null)[] };
      const { value, ...rest } = result as Accounts;
      const invented = value.map((one) => {
        if (one?.owner !== PROGRAMS.lookupTable) return one;
        const data = Buffer.from(one.data[0], 'base64');
        data[56]! ^= 1;
        return { ...one, data: [data.toString('base64'), 'base64'] };
      });
      return { ...rest, value: invented };
    });
    const withTable = await signed(await fixture.payer(PRICE), { tables: [account] });
    await expect(check(withTable)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

const lieAboutIncluded = () =>
  altered.alterBy((method, result) => {
    if (method !== 'getTransaction' || result === null) return result;
    const { meta, ...rest } = result as { meta: Meta };
    return { ...rest, meta: changedBy(meta, -1n) };
  });
/** Expects that a payment waits while the changes of its transaction are others. */
const waitsForRightChanges = async (service: ServiceProcess, id: string): Promise<void> => {
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
};

test('a payment that was included with other balance changes waits, and counts once they are right', async () => {
  const service = await fixture.start({ SOLANA_RPC_URLS: altered.url });
  lieAboutIncluded();
  const [whole, id] = [await payment(PRICE), newId('stl')];
  expect(reasonOf(await submit(whole, id))).toBe('submitted');
  await waitsForRightChanges(service, id);
  await service.stop();
});

test('so does one that the service has signed before it was killed', async () => {
  const [whole, id] = [await payment(PRICE), newId('stl')];
  const dying = await fixture.start({ SOLANA_RPC_URLS: altered.url }, 'submitter.afterCommit=crash');
  // The call may be answered before the kill, or never.
  void submit(whole, id).catch(() => {});
  await dying.exited;
  lieAboutIncluded();
  const service = await fixture.start({ SOLANA_RPC_URLS: altered.url });
  await waitsForRightChanges(service, id);
  expect(await countSigned(id)).toBe(1);
  await service.stop();
});

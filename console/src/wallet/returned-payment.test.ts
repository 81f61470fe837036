import { beforeAll, expect, test } from '@jest/globals';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { tokenAccountOf } from '../../../services/chain-submitter/chain/addresses.ts';
import { decodeIncoming } from '../../../services/chain-submitter/incoming/envelope.ts';
import { checkIncomingPolicy } from '../../../services/chain-submitter/incoming/policy.ts';
import {
  checkWalletBytes,
  isOfSmartWallet,
} from '../../../services/chain-submitter/incoming/wallet-policy.ts';
import { PROGRAMS, WALLET_PROGRAMS } from '../../../services/chain-submitter/ledger/model/programs.ts';
import { PaymentRefusal } from '../../../services/chain-submitter/payments/refusal.ts';
import {
  feePayerKey,
  memo,
  network,
  withAccount,
  withData,
} from '../../../test/support/fixtures/chain-submitter/incoming-messages.ts';
import { buildPayment, type Payment } from './payment-transaction.ts';
import { changeOf } from './returned-payment.ts';

/**
 * What wallets make of the transaction of the payment page. What the page takes, the policy of the
 * platform co-signs.
 */

const [payer, holder, stranger] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
const payee = Keypair.generate().publicKey.toBase58();
const feePayer = feePayerKey.publicKey.toBase58();
const payment: Payment = {
  ...{ payer: payer.publicKey.toBase58(), payee, mint: network.mint, amountMicro: 50_001n },
  ...{ memo: 'offer-1', feePayer, blockhash: Keypair.generate().publicKey.toBase58() },
};
const source = tokenAccountOf(payment.payer, network.mint);
const payTo = tokenAccountOf(payee, network.mint);

let built: string;
beforeAll(async () => {
  built = await buildPayment(payment);
});

type Instructions = TransactionInstruction[];
type Shape = {
  /** Of the limit, the price, the transfer and the memo that the page has built. */
  change: (built: [limit: TransactionInstruction, ...Instructions]) => Instructions;
  signer?: Keypair;
  tables?: AddressLookupTableAccount[];
  version?: 'legacy';
};

/** What a wallet returns that changes the transaction so. */
const returnedBy = ({ change, signer = payer, tables = [], version }: Shape): string => {
  const { message } = VersionedTransaction.deserialize(Buffer.from(built, 'base64'));
  const { payerKey, recentBlockhash, instructions } = TransactionMessage.decompile(message);
  const changed = new TransactionMessage({
    ...{ payerKey, recentBlockhash },
    instructions: change(instructions as Parameters<Shape['change']>[0]),
  });
  const transaction = new VersionedTransaction(
    version === 'legacy' ? changed.compileToLegacyMessage() : changed.compileToV0Message(tables),
  );
  transaction.sign([signer]);
  return Buffer.from(transaction.serialize()).toString('base64');
};

const guard = (account: string, assertion = 6) =>
  new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.lighthouse),
    keys: [{ pubkey: new PublicKey(account), isSigner: false, isWritable: false }],
    data: Buffer.of(assertion, 4, 1, 0),
  });
const bySwig = () =>
  new TransactionInstruction({
    programId: new PublicKey(WALLET_PROGRAMS.swig[0]),
    keys: [source, network.mint, payTo, holder.publicKey.toBase58(), PROGRAMS.token].map((key) => ({
      pubkey: new PublicKey(key),
      isSigner: key === holder.publicKey.toBase58(),
      isWritable: key === source || key === payTo,
    })),
    data: Buffer.of(11),
  });
const tableOf = (...addresses: string[]) =>
  new AddressLookupTableAccount({
    key: stranger.publicKey,
    state: {
      ...{ deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 },
      addresses: addresses.map((one) => new PublicKey(one)),
    },
  });
const tip = () =>
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: stranger.publicKey, lamports: 1000 });

const programs = new Set<string>(Object.values(WALLET_PROGRAMS).flat());
/** What the policy says to the bytes: `signed`, `simulated`, or why it refuses them. */
const judged = (returned: string): string => {
  const order = { legs: [{ destination: payTo, amountMicro: 50_001n }], memos: ['offer-1'] };
  try {
    const decoded = decodeIncoming(Buffer.from(returned, 'base64'));
    if (isOfSmartWallet(decoded.plain, programs)) {
      checkWalletBytes(decoded, order, { network, programs });
      return 'simulated';
    }
    checkIncomingPolicy(decoded, order, { network, programs });
    return 'signed';
  } catch (error) {
    if (!(error instanceof PaymentRefusal)) throw error;
    return error.reason;
  }
};

test.each<[string, Shape, string]>([
  ['nothing', { change: (all) => all }, 'signed'],
  ['a guard at the end (Phantom)', { change: (all) => [...all, guard(source)] }, 'signed'],
  [
    'two guards around the payment (Solflare)',
    {
      change: ([limit, price, ...rest]) => [limit, price!, guard(payment.payer), ...rest, guard(source, 10)],
    },
    'signed',
  ],
  [
    'the price of a compute unit',
    {
      change: ([limit, , ...rest]) => [
        limit,
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 100_000 }),
        ...rest,
      ],
    },
    'signed',
  ],
  ['the version of the message', { change: (all) => all, version: 'legacy' }, 'signed'],
  [
    'the transfer, which a smart wallet makes',
    { change: ([limit, price, , note]) => [limit, price!, bySwig(), note!], signer: holder },
    'simulated',
  ],
])('the page takes a payment in which a wallet has changed %s', async (_name, shape, answer) => {
  const returned = returnedBy(shape);
  expect([await changeOf(built, returned, payment), judged(returned)]).toEqual([null, answer]);
});

test.each<[string, Shape, 'payment' | 'guards']>([
  [
    'seven guards',
    { change: (all) => [...all, ...Array.from({ length: 7 }, () => guard(source))] },
    'guards',
  ],
  ['a guard about the payee', { change: (all) => [...all, guard(payTo)] }, 'guards'],
  ['a guard about the fee payer', { change: (all) => [...all, guard(feePayer)] }, 'guards'],
  ['a guard about the time', { change: (all) => [...all, guard(source, 15)] }, 'guards'],
  ['an instruction by which Lighthouse writes', { change: (all) => [...all, guard(source, 0)] }, 'guards'],
  [
    'a guard with two accounts',
    { change: (all) => [...all, withAccount(guard(source), payment.payer)] },
    'guards',
  ],
  ['a tip', { change: (all) => [...all, tip()] }, 'payment'],
  ['a second memo', { change: (all) => [...all, memo('thanks')] }, 'payment'],
  [
    'another memo',
    { change: ([limit, price, transfer]) => [limit, price!, transfer!, memo('thanks')] },
    'payment',
  ],
  ['no memo', { change: (all) => all.slice(0, 3) }, 'payment'],
  ['a second transfer', { change: (all) => [...all, all[2]!] }, 'payment'],
  [
    'another amount',
    {
      change: ([limit, price, transfer, note]) => [
        limit,
        price!,
        withData(transfer!, (data) => data.writeBigUInt64LE(50_000n, 1)),
        note!,
      ],
    },
    'payment',
  ],
  [
    'a fifth account of the transfer',
    {
      change: ([limit, price, transfer, note]) => [
        limit,
        price!,
        withAccount(transfer!, stranger.publicKey.toBase58()),
        note!,
      ],
    },
    'payment',
  ],
  ['a payee in a lookup table', { change: (all) => all, tables: [tableOf(payTo, network.mint)] }, 'payment'],
  [
    'a tip beside a smart wallet',
    { change: ([limit, price, , note]) => [limit, price!, bySwig(), note!, tip()], signer: holder },
    'payment',
  ],
])('the page sends no payment to which a wallet has added %s', async (_name, shape, change) => {
  expect(await changeOf(built, returnedBy(shape), payment)).toBe(change);
});

test('the page sends nothing that is no transaction, or has no signature of its buyer', async () => {
  expect(await changeOf(built, 'AAAA', payment)).toBe('payment');
  expect(await changeOf(built, built, payment)).toBe('payment');
});

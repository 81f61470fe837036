import { expect, test } from '@jest/globals';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { PROGRAMS, tokenAccountOf } from '../chain/addresses.ts';
import type { Network } from '../ledger/model/network.ts';
import type {
  CreateTokenAccountOrder,
  DelegationOrder,
  FundOrder,
  SettleOrder,
  TransferOrder,
} from '../ledger/model/order.ts';
import { referenceOf } from '../ledger/reference.ts';
import { compileMessage } from './compile-message.ts';
import { createTokenAccount } from './create-token-account.ts';
import { delegation } from './delegation.ts';
import { fund } from './fund.ts';
import { createTokenAccount as creation } from './instructions/create-token-account.ts';
import { transferChecked } from './instructions/transfer-checked.ts';
import { checkPolicy, PolicyError } from './policy.ts';
import { settle } from './settle.ts';
import { transfer } from './transfer.ts';

const someone = () => Keypair.generate().publicKey.toBase58();
const [mint, feePayer, authority, feeWallet, payer, payout, other] = Array.from({ length: 7 }, someone) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const network: Network = {
  mint,
  feePayer,
  payingFeePayers: [feePayer],
  feePayers: [feePayer],
  delegateAuthorities: [authority],
  fundingAuthority: someone(),
  feeWallet,
  feeAccount: tokenAccountOf(feeWallet, mint),
  computeBudget: null,
};
const order: SettleOrder = {
  kind: 'settle',
  accountId: 'acct_2',
  acceptedAt: 0,
  quoteId: 'q_1',
  vendorAccountId: 'acct_1',
  payout,
  payoutAccount: tokenAccountOf(payout, mint),
  payer,
  source: tokenAccountOf(payer, mint),
  authority,
  grossMicro: 2_500_000n,
  feeMicro: 12_500n,
  paysFees: false,
  reference: referenceOf('test', 'q_1'),
  since: 0,
  signBefore: 0,
};
const blockhash = someone();
const compile = (instructions: TransactionInstruction[], payerKey = feePayer) =>
  compileMessage(instructions, { feePayer: payerKey, blockhash });
const evaluate = (bytes: Uint8Array, of: Parameters<typeof checkPolicy>[1] = order, on = network) => {
  try {
    checkPolicy(bytes, of, on);
    return 'signed';
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return 'refused';
  }
};
const built = settle(order, network, { create: true, price: null });
const [create, net, fee] = built as [TransactionInstruction, TransactionInstruction, TransactionInstruction];
const from = { source: order.source, mint, authority };
const netWith = (change: object) =>
  transferChecked({
    ...from,
    destination: order.payoutAccount,
    amountMicro: 2_487_500n,
    reference: order.reference,
    ...change,
  });
const withData = (instruction: TransactionInstruction, change: (data: Buffer) => void) => {
  const data = Buffer.from(instruction.data);
  change(data);
  return new TransactionInstruction({ ...instruction, data });
};
const drain = SystemProgram.transfer({
  fromPubkey: new PublicKey(feePayer),
  toPubkey: new PublicKey(other),
  lamports: 1,
});
const withAccount = (
  instruction: TransactionInstruction,
  address: string,
  rights: { isSigner: boolean; isWritable: boolean },
) =>
  new TransactionInstruction({
    ...instruction,
    keys: [...instruction.keys, { pubkey: new PublicKey(address), ...rights }],
  });

test.each<[string, TransactionInstruction[], string]>([
  ['the first settle', [create, net, fee], 'signed'],
  ['the next settle', [net, fee], 'signed'],
  ['fee before net', [fee, net], 'refused'],
  ['creation at the end', [net, fee, create], 'refused'],
  ['creation twice', [create, create, net, fee], 'refused'],
  ['no fee', [net], 'refused'],
  ['no net', [fee], 'refused'],
  ['nothing', [], 'refused'],
  ['net twice', [net, net, fee], 'refused'],
  ['fee twice', [net, fee, fee], 'refused'],
  ['one unit more', [netWith({ amountMicro: 2_487_501n }), fee], 'refused'],
  ['the gross to the vendor', [netWith({ amountMicro: 2_500_000n }), fee], 'refused'],
  ['another destination', [netWith({ destination: tokenAccountOf(other, mint) }), fee], 'refused'],
  ['the owner instead of the token account', [netWith({ destination: payout }), fee], 'refused'],
  ['another source', [netWith({ source: tokenAccountOf(other, mint) }), fee], 'refused'],
  ['another mint', [netWith({ mint: other }), fee], 'refused'],
  ['another authority', [netWith({ authority: other }), fee], 'refused'],
  ['the fee payer as authority', [netWith({ authority: feePayer }), fee], 'refused'],
  ['another reference', [netWith({ reference: other }), fee], 'refused'],
  [
    'no reference',
    [transferChecked({ ...from, destination: order.payoutAccount, amountMicro: 2_487_500n }), fee],
    'refused',
  ],
  [
    'a writable reference',
    [
      withAccount(
        transferChecked({ ...from, destination: order.payoutAccount, amountMicro: 2_487_500n }),
        order.reference,
        { isSigner: false, isWritable: true },
      ),
      fee,
    ],
    'refused',
  ],
  ['a second reference', [withAccount(net, other, { isSigner: false, isWritable: false }), fee], 'refused'],
  [
    'a reference on the fee',
    [net, withAccount(fee, order.reference, { isSigner: false, isWritable: false })],
    'refused',
  ],
  ['another signer', [withAccount(net, other, { isSigner: true, isWritable: false }), fee], 'refused'],
  ['other decimals', [withData(net, (data) => data.writeUInt8(9, 9)), fee], 'refused'],
  ['an unchecked transfer', [withData(net, (data) => data.writeUInt8(3, 0)), fee], 'refused'],
  ['an approval', [withData(net, (data) => data.writeUInt8(13, 0)), fee], 'refused'],
  [
    'trailing data',
    [new TransactionInstruction({ ...net, data: Buffer.concat([net.data, Buffer.of(0)]) }), fee],
    'refused',
  ],
  [
    'another program',
    [new TransactionInstruction({ ...net, programId: new PublicKey(other) }), fee],
    'refused',
  ],
  [
    'creation in the form that fails when the account exists',
    [withData(create, (data) => data.writeUInt8(0, 0)), net, fee],
    'refused',
  ],
  [
    'creation of another owner’s token account',
    [creation({ payer: feePayer, tokenAccount: tokenAccountOf(other, mint), owner: other, mint }), net, fee],
    'refused',
  ],
  ['lamports of the fee payer transferred', [net, fee, drain], 'refused'],
  ['lamports transferred first', [drain, net, fee], 'refused'],
])('rule 7: the policy decides on the decoded bytes: %s', (_name, instructions, expected) => {
  expect(evaluate(compile(instructions))).toBe(expected);
});

test('rule 7: bytes that decode but are not in canonical form are refused', () => {
  const bytes = compile(built);
  expect(evaluate(Buffer.concat([bytes, Buffer.of(0)]))).toBe('refused');
  expect(evaluate(bytes.subarray(0, -1))).toBe('refused');
  expect(evaluate(Buffer.concat([Buffer.of(0x80), bytes]))).toBe('refused');
  expect(evaluate(compile(built, other))).toBe('refused');
});

test.each<[string, Partial<SettleOrder>, Partial<Network>]>([
  ['an authority that is not one of the keys', { authority: other }, {}],
  ['the fee payer as delegate authority', { authority: feePayer }, { delegateAuthorities: [feePayer] }],
  ['a fee of the full amount', { feeMicro: 2_500_000n }, {}],
  ['a payment to oneself', { payoutAccount: order.source, payout: payer }, {}],
  ['the fee wallet as payer', { source: network.feeAccount, payer: feeWallet }, {}],
  ['the fee wallet as vendor', { payoutAccount: network.feeAccount, payout: feeWallet }, {}],
  ['a payment of fees to a vendor', { paysFees: true }, {}],
  [
    'a payment of fees with a fee',
    { paysFees: true, payoutAccount: network.feeAccount, payout: feeWallet },
    {},
  ],
])('rule 7: an order that is never signed: %s', (_name, change, on) => {
  const [changedOrder, changedNetwork] = [
    { ...order, ...change },
    { ...network, ...on },
  ];
  expect(
    evaluate(
      compile(settle(changedOrder, changedNetwork, { create: false, price: null })),
      changedOrder,
      changedNetwork,
    ),
  ).toBe('refused');
});

test('a quote without a fee has one transfer', () => {
  const free = { ...order, feeMicro: 0n };
  expect(evaluate(compile(settle(free, network, { create: false, price: null })), free)).toBe('signed');
  expect(evaluate(compile(built), free)).toBe('refused');
});

test('an account pays its accrued fees to the fee wallet, by one transfer without a fee', () => {
  const toFeeWallet = { payout: feeWallet, payoutAccount: network.feeAccount };
  const fees = { ...order, ...toFeeWallet, feeMicro: 0n, paysFees: true };
  const bytes = compile(settle(fees, network, { create: false, price: null }));
  expect(evaluate(bytes, fees)).toBe('signed');
  expect(evaluate(bytes, { ...fees, paysFees: false })).toBe('refused');
});

test('rule 13: only the configured compute budget is allowed', () => {
  const budget = { units: 60_000, microLamports: 1000n, follows: false };
  const busy = { ...network, computeBudget: budget };
  const bytes = compile(settle(order, busy, { create: true, price: 1000n }));
  expect([evaluate(bytes, order, busy), evaluate(bytes), evaluate(compile(built), order, busy)]).toEqual([
    'signed',
    'refused',
    'refused',
  ]);
  expect(evaluate(bytes, order, { ...busy, computeBudget: { ...budget, microLamports: 1n } })).toBe(
    'refused',
  );
});

test('rule 13: a price that follows recent fees is never above the configured one', () => {
  const budget = { units: 60_000, microLamports: 1000n, follows: true };
  const busy = { ...network, computeBudget: budget };
  const evaluated = [0n, 400n, 1000n, 1001n].map((price) =>
    evaluate(compile(settle(order, busy, { create: true, price })), order, busy),
  );
  expect(evaluated).toEqual(['signed', 'signed', 'signed', 'refused']);
  const otherUnits = { ...busy, computeBudget: { ...budget, units: 60_001 } };
  expect(evaluate(compile(settle(order, busy, { create: true, price: 400n })), order, otherUnits)).toBe(
    'refused',
  );
});

test('each other kind of order allows its form only', () => {
  const funding: FundOrder = {
    kind: 'fund',
    accountId: 'a',
    owner: other,
    destination: tokenAccountOf(other, mint),
    amountMicro: 5n,
    reference: someone(),
    since: 0,
    signBefore: 0,
  };
  const account: CreateTokenAccountOrder = {
    kind: 'createTokenAccount',
    accountId: 'a',
    owner: other,
    tokenAccount: tokenAccountOf(other, mint),
    since: 0,
    signBefore: 0,
  };
  const approval: DelegationOrder = {
    kind: 'delegation',
    accountId: 'a',
    owner: other,
    tokenAccount: tokenAccountOf(other, mint),
    authority,
    allowanceMicro: 7n,
    since: 0,
  };
  const revocation = { ...approval, allowanceMicro: null };
  const withdrawal: TransferOrder = {
    kind: 'withdrawal',
    accountId: 'a',
    owner: payer,
    source: tokenAccountOf(payer, mint),
    payee: other,
    destination: tokenAccountOf(other, mint),
    amountMicro: 5n,
    reference: someone(),
    since: 0,
  };
  const refund: TransferOrder = { ...withdrawal, kind: 'refund', owner: payout, reference: someone() };
  refund.source = tokenAccountOf(payout, mint);
  const all = [
    [withdrawal, compile(transfer(withdrawal, network, { create: true }))],
    [refund, compile(transfer(refund, network, { create: true }))],
    [funding, compile(fund(funding, network, { create: true }))],
    [account, compile(createTokenAccount(account, network))],
    [approval, compile(delegation(approval, network, { create: true }))],
    [revocation, compile(delegation(revocation, network, { create: false }))],
    [order, compile(built)],
  ] as const;
  for (const [of] of all) {
    expect(all.map(([orderOf, bytes]) => [evaluate(bytes, of), orderOf === of])).toEqual(
      all.map(([orderOf]) => [orderOf === of ? 'signed' : 'refused', orderOf === of]),
    );
  }
  const bytesOf = (change: object) =>
    compile(delegation({ ...approval, ...change }, network, { create: false }));
  expect(evaluate(bytesOf({ allowanceMicro: 8n }), approval)).toBe('refused');
  expect(evaluate(bytesOf({ authority: someone() }), approval)).toBe('refused');
  expect(evaluate(compile(fund({ ...funding, amountMicro: 6n }, network, { create: false })), funding)).toBe(
    'refused',
  );
});

test.each<[string, Partial<TransferOrder>, string]>([
  ['as ordered', {}, 'signed'],
  ['one unit more', { amountMicro: 6n }, 'refused'],
  ['another destination', { destination: tokenAccountOf(someone(), mint) }, 'refused'],
  ['the owner instead of the token account', { destination: other }, 'refused'],
  ['another source', { source: tokenAccountOf(other, mint) }, 'refused'],
  ['another owner', { owner: other }, 'refused'],
  ['the fee payer as owner', { owner: feePayer }, 'refused'],
  ['another reference', { reference: someone() }, 'refused'],
  ['creation of another payee’s token account', { payee: someone() }, 'refused'],
])('a withdrawal is checked on its decoded bytes: %s', (_name, change, expected) => {
  const asked: TransferOrder = {
    kind: 'withdrawal',
    accountId: 'a',
    owner: payer,
    source: tokenAccountOf(payer, mint),
    payee: other,
    destination: tokenAccountOf(other, mint),
    amountMicro: 5n,
    reference: order.reference,
    since: 0,
  };
  const bytes = compile(transfer({ ...asked, ...change }, network, { create: true }));
  expect(evaluate(bytes, asked)).toBe(expected);
});

test.each<[string, Partial<TransferOrder>]>([
  ['out of the fee wallet', { owner: feeWallet }],
  ['by a delegate authority as owner', { owner: authority }],
  ['to oneself', { destination: tokenAccountOf(payer, mint) }],
  ['to the fee account', { destination: network.feeAccount }],
])('a withdrawal that is never prepared: %s', (_name, change) => {
  const asked = {
    kind: 'withdrawal',
    accountId: 'a',
    owner: payer,
    source: tokenAccountOf(payer, mint),
  } as const;
  const to = { payee: null, destination: tokenAccountOf(other, mint), amountMicro: 5n };
  const bad: TransferOrder = { ...asked, ...to, reference: order.reference, since: 0, ...change };
  expect(evaluate(compile(transfer(bad, network, { create: false })), bad)).toBe('refused');
});

test('rule 12: the reference depends on environment and quote id only', () => {
  expect(referenceOf('test', 'q_1')).toBe(referenceOf('test', 'q_1'));
  expect(
    new Set([referenceOf('test', 'q_1'), referenceOf('live', 'q_1'), referenceOf('test', 'q_2')]).size,
  ).toBe(3);
});

test('the known programs', () => {
  for (const id of Object.values(PROGRAMS)) expect(new PublicKey(id).toBase58()).toBe(id);
});

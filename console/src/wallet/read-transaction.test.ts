import { expect, test } from '@jest/globals';
import {
  AuthorityType,
  createApproveCheckedInstruction,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createAssociatedTokenAccountInstruction,
  createCloseAccountInstruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import {
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { type Owner, RefusedError, readTransaction, type Wanted } from './read-transaction.ts';

/** Transactions as the service creates them (by web3.js), and as an attacker would. */
const [owner, payer, authority, stranger, mint, payee] = Array.from(
  { length: 6 },
  () => Keypair.generate().publicKey,
) as [PublicKey, PublicKey, PublicKey, PublicKey, PublicKey, PublicKey];
const account = (of: PublicKey, token = mint) => getAssociatedTokenAddressSync(token, of, true);
const [mine, theirs] = [account(owner), account(payee)];
const who: Owner = { address: owner.toBase58(), mint: mint.toBase58() };

const wire = (instructions: TransactionInstruction[], { payerKey = payer, version = 'legacy' } = {}) => {
  const message = new TransactionMessage({
    payerKey,
    recentBlockhash: stranger.toBase58(),
    instructions,
  });
  const compiled = version === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message();
  return Buffer.from(new VersionedTransaction(compiled).serialize()).toString('base64');
};
const approve = ({ to = authority, amount = 25n, decimals = 6, source = mine, of = mint } = {}) =>
  createApproveCheckedInstruction(source, of, to, owner, amount, decimals);
const send = ({ to = theirs, amount = 25n, source = mine, of = mint } = {}) =>
  createTransferCheckedInstruction(source, of, to, owner, amount, 6);
const create = (of = owner, paidBy = payer, at = account(of)) =>
  createAssociatedTokenAccountIdempotentInstruction(paidBy, at, of, mint);
const revoke = createRevokeInstruction(mine, owner);
/** A reference key after a transfer's accounts, as the service adds it. */
const referenced = (instruction: TransactionInstruction) => {
  instruction.keys.push({ pubkey: stranger, isSigner: false, isWritable: false });
  return instruction;
};
const longer = (instruction: TransactionInstruction) => {
  instruction.data = Buffer.concat([instruction.data, Buffer.from([1])]);
  return instruction;
};

const allow: Wanted = { kind: 'approve', allowance: 25n };
const end: Wanted = { kind: 'revoke' };
const toWallet: Wanted = { kind: 'transfer', amount: 25n, destination: payee.toBase58() };
const toAccount: Wanted = { kind: 'transfer', amount: 25n, destination: theirs.toBase58() };

test.each([
  [
    'an approval',
    allow,
    [approve()],
    { kind: 'approve', allowance: 25n, delegate: authority.toBase58(), creates: false },
  ],
  ['with the account first', allow, [create(), approve()], { kind: 'approve', creates: true }],
  ['a revocation', end, [revoke], { kind: 'revoke', creates: false }],
  [
    'a transfer to a wallet',
    toWallet,
    [referenced(send())],
    { kind: 'transfer', tokenAccount: theirs.toBase58() },
  ],
  [
    'with its account first',
    toWallet,
    [create(payee), send()],
    { kind: 'transfer', amount: 25n, creates: true },
  ],
  ['a transfer to a token account', toAccount, [send()], { kind: 'transfer', creates: false }],
] as const)('%s is the requested transaction', async (_name, wanted, instructions, deed) => {
  const read = await readTransaction(wire([...instructions]), wanted, who);
  expect(read.deed).toMatchObject(deed);
});

const otherMint = Keypair.generate().publicKey;
const pay = SystemProgram.transfer({ fromPubkey: owner, toPubkey: stranger, lamports: 1 });
test.each<[string, Wanted, TransactionInstruction[], RegExp]>([
  ['another allowance', allow, [approve({ amount: 26n })], /spending limit differs/],
  ['an approval instead of a revocation', end, [approve()], /allows spending/],
  ['a transfer instead of an approval', allow, [send()], /moves money/],
  ['a revocation instead of a transfer', toWallet, [revoke], /revokes the spending limit/],
  ['another amount', toWallet, [send({ amount: 26n })], /amount differs/],
  ['another destination', toWallet, [send({ to: account(stranger) })], /destination differs/],
  [
    'another destination than the account',
    toAccount,
    [send({ to: account(stranger) })],
    /destination differs/,
  ],
  ['another source', toWallet, [send({ source: account(stranger) })], /another token account/],
  ['another token', toWallet, [send({ of: otherMint, to: account(payee, otherMint) })], /another token/],
  ['other decimals', allow, [approve({ decimals: 5 })], /another token/],
  ['oneself as delegate', allow, [approve({ to: owner })], /lets the wallet itself spend/],
  ['an approval and a transfer', allow, [send(), approve()], /calls another program/],
  ['a transfer after the approval', allow, [approve(), send()], /moves money/],
  ['two approvals', allow, [approve({ to: stranger }), approve()], /calls another program/],
  ['three instructions', allow, [create(), create(), approve()], /it does more than that/],
  ['lamports of the owner', allow, [pay, approve()], /calls another program/],
  ['lamports alone', toWallet, [pay], /calls another program/],
  ['unchecked approve', allow, [createApproveInstruction(mine, authority, owner, 25n)], /something else/],
  ['unchecked transfer', toWallet, [createTransferInstruction(mine, theirs, owner, 25n)], /something else/],
  ['the account closed', end, [createCloseAccountInstruction(mine, stranger, owner)], /something else/],
  [
    'the account given away',
    end,
    [createSetAuthorityInstruction(mine, owner, AuthorityType.AccountOwner, stranger)],
    /something else/,
  ],
  ['an account for a stranger', toWallet, [create(stranger), send()], /creates another account/],
  ['an account for a revocation', end, [create(), revoke], /creates another account/],
  ['an account that the owner pays for', allow, [create(owner, owner), approve()], /creates another account/],
  [
    'the other way to create',
    allow,
    [createAssociatedTokenAccountInstruction(payer, mine, owner, mint), approve()],
    /another program/,
  ],
  ['bytes behind the data', allow, [longer(approve())], /extra bytes/],
])('%s is refused', async (_name, wanted, instructions, why) => {
  const read = readTransaction(wire(instructions), wanted, who);
  await expect(read).rejects.toThrow(why);
  await expect(read).rejects.toBeInstanceOf(RefusedError);
});

test('a transaction is refused if this wallet pays its fee, or if its form can hide content', async () => {
  const good = wire([approve()]);
  const bytes = Buffer.from(good, 'base64');
  const signed = Buffer.from(bytes);
  signed.fill(7, 1, 65);
  for (const [text, why] of [
    [wire([approve()], { payerKey: owner }), /signatures of other wallets/],
    [
      wire([approve()], { payerKey: owner, version: 'v0' }),
      /version is not supported|signatures of other wallets/,
    ],
    [wire([approve()], { version: 'v0' }), /version is not supported/],
    [signed.toString('base64'), /already signed/],
    [Buffer.concat([bytes, Buffer.from([0])]).toString('base64'), /extra bytes|cannot be read/],
    [bytes.subarray(0, -1).toString('base64'), /cannot be read/],
    ['', /cannot be read/],
    ['not base64', /cannot be read/],
  ] as const)
    await expect(readTransaction(text, allow, who)).rejects.toThrow(why);
  const third = approve();
  third.keys.push({ pubkey: stranger, isSigner: true, isWritable: false });
  await expect(readTransaction(wire([third]), allow, who)).rejects.toThrow('signatures of other wallets');
  await expect(readTransaction(good, allow, { ...who, address: stranger.toBase58() })).rejects.toThrow(
    'signatures of other wallets',
  );
});

test('a transaction with another mint only is refused: the mint is configured, and the account derived', async () => {
  const foreign = account(owner, otherMint);
  // Further values that an answer of the API may have for the wallet.
  const said = { ...who, tokenAccount: foreign.toBase58() };
  for (const [wanted, instructions] of [
    [allow, [approve({ source: foreign, of: otherMint })]],
    [toWallet, [send({ source: foreign, of: otherMint, to: account(payee, otherMint) })]],
    [end, [createRevokeInstruction(foreign, owner)]],
  ] as const)
    await expect(readTransaction(wire([...instructions]), wanted, said)).rejects.toThrow(RefusedError);
});

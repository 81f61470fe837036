import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair, Message, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { z } from 'zod';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { privateKeyFromSeed, signBytes } from '../../../shared/lib/chain/ed25519.ts';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor, waitFor } from '../../../test/support/base/wait.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

type Internal = typeof chainSubmitter.internal;
let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

const ask = <N extends keyof Internal>(name: N, input: z.infer<Internal[N]['input']>) =>
  call(fixture.walletBus, chainSubmitter, name, input) as Promise<z.infer<Internal[N]['output']>>;
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
// This query is settlement's. The wallet service has another one.
const observe = (owner: PublicKey) =>
  call(fixture.settlementBus, chainSubmitter, 'observeWallet', { owner: owner.toBase58() });

/** Signs a prepared transaction as a wallet does: only its own signature slot. */
const signAs = (
  owner: Keypair,
  transaction: string,
  alter: (message: Message) => Message = (same) => same,
): string => {
  const wire = Buffer.from(transaction, 'base64');
  const message = alter(Message.from(wire.subarray(1 + 64 * wire[0]!)));
  const bytes = message.serialize();
  const slots = message.accountKeys
    .slice(0, message.header.numRequiredSignatures)
    .map((key) =>
      key.equals(owner.publicKey)
        ? signBytes(bytes, privateKeyFromSeed(owner.secretKey.subarray(0, 32)))
        : new Uint8Array(64),
    );
  return Buffer.concat([Uint8Array.of(slots.length), ...slots, bytes]).toString('base64');
};

const fund = async (owner: PublicKey, amount: bigint, fund_id = newId('fund')) => {
  await fixture.send(fixture.fundingBus, 'fund', {
    fund_id,
    account_id: newId('acct'),
    owner: owner.toBase58(),
    amount: `${amount}`,
  });
  return fund_id;
};
const prepare = (
  owner: Keypair,
  allowance: bigint | null,
  { preparation_id = newId('prep'), account_id = newId('acct') } = {},
) =>
  ask('prepareDelegation', {
    preparation_id,
    account_id,
    owner: owner.publicKey.toBase58(),
    allowance: allowance === null ? null : `${allowance}`,
  }).then((prepared) => ({ ...prepared, preparation_id }));

test('a fund creates the wallet’s token account and mints into it, and two funds of the same amount are two transactions', async () => {
  const owner = Keypair.generate().publicKey;
  const [one, two] = await Promise.all([fund(owner, 5_000_000n), fund(owner, 5_000_000n)]);
  await fund(owner, 5_000_000n, one);
  const changes = await Promise.all([one, two].map((id) => fixture.events.wait(id, 'confirmed')));
  expect(changes[0]!.tx_hash).not.toBe(changes[1]!.tx_hash);
  await Promise.all([one, two].map((id) => fixture.events.wait(id, 'finalized')));
  expect(fixture.events.names(one)).toContain('fundProgressed');
  expect(await observe(owner)).toMatchObject({
    exists: true,
    balance: '10000000',
    delegate: null,
    allowance: '0',
  });
});

test('a wallet that was never observed has no token account', async () => {
  expect(await observe(Keypair.generate().publicKey)).toMatchObject({
    exists: false,
    balance: '0',
    delegate: null,
  });
});

test('delegation: prepared with empty signature slots, signed by the owner, active on chain, then revoked', async () => {
  const owner = Keypair.generate();
  await fixture.events.wait(await fund(owner.publicKey, 5_000_000n), 'confirmed');
  const prepared = await prepare(owner, 3_000_000n);
  const wire = Buffer.from(prepared.transaction, 'base64');
  expect(wire.subarray(1, 1 + 128).every((byte) => byte === 0)).toBe(true);
  const left = Date.parse(prepared.expires_at) - Date.now();
  expect(left).toBeGreaterThan(30_000);
  expect(left).toBeLessThan(90_000);
  const transaction = signAs(owner, prepared.transaction);
  const submission = { preparation_id: prepared.preparation_id, transaction };
  const [first, second] = await Promise.all([
    ask('submitPrepared', submission),
    ask('submitPrepared', submission),
  ]);
  expect(second).toEqual(first);
  expect((await fixture.events.wait(prepared.preparation_id, 'confirmed')).tx_hash).toBe(first.tx_hash);
  expect(fixture.events.names(prepared.preparation_id)[0]).toBe('delegationProgressed');
  expect(await observe(owner.publicKey)).toMatchObject({ delegate: fixture.authority, allowance: '3000000' });
  await fixture.events.wait(prepared.preparation_id, 'finalized');
  expect(await ask('submitPrepared', submission)).toEqual(first);

  const revoked = await prepare(owner, null);
  await ask('submitPrepared', {
    preparation_id: revoked.preparation_id,
    transaction: signAs(owner, revoked.transaction),
  });
  await fixture.events.wait(revoked.preparation_id, 'confirmed');
  expect(await observe(owner.publicKey)).toMatchObject({ delegate: null, allowance: '0' });
});

test('delegation: the platform pays for the token account of an empty wallet', async () => {
  const owner = Keypair.generate();
  const prepared = await prepare(owner, 3_000_000n);
  await ask('submitPrepared', {
    preparation_id: prepared.preparation_id,
    transaction: signAs(owner, prepared.transaction),
  });
  await fixture.events.wait(prepared.preparation_id, 'confirmed');
  expect(await observe(owner.publicKey)).toMatchObject({ exists: true, allowance: '3000000' });
});

test('delegation: providers that deny an included one past its expiry do not make it fail', async () => {
  const { chain, admin, events } = fixture;
  const owner = Keypair.generate();
  const { preparation_id, transaction } = await prepare(owner, 3_000_000n);
  await chain.call('chain_fault', { method: 'getSignatureStatuses', kind: 'lie_null' });
  const submission = { preparation_id, transaction: signAs(owner, transaction) };
  const { tx_hash } = await ask('submitPrepared', submission);
  await waitFor(
    () => observe(owner.publicKey),
    ({ allowance }) => allowance === '3000000',
  );
  await chain.call('chain_advance', 183);
  const readStatus = async () => {
    const sql = 'select status from chain_submitter.intents where object_id = $1';
    return (await admin.query(sql, [preparation_id])).rows[0].status;
  };
  await staysFor(4000, readStatus, (status) => status === 'signed');
  await chain.call('chain_fault');
  expect((await events.wait(preparation_id, 'finalized')).tx_hash).toBe(tx_hash);
});

test('delegation: only the newest preparation of a wallet can be submitted, and an unknown one is a conflict', async () => {
  const owner = Keypair.generate();
  const account_id = newId('acct');
  const old = await prepare(owner, 1_000_000n, { account_id });
  const newer = await prepare(owner, 2_000_000n, { account_id });
  const submit = (prepared: { preparation_id: string; transaction: string }) =>
    codeOf(
      ask('submitPrepared', {
        preparation_id: prepared.preparation_id,
        transaction: signAs(owner, prepared.transaction),
      }),
    );
  expect(await submit(old)).toBe('conflict');
  expect(await submit({ ...newer, preparation_id: 'prep_unknown' })).toBe('conflict');
  expect(await submit(newer)).toBe('ok');
  expect(await codeOf(prepare(owner, 4_000_000n, newer))).toBe('conflict');
  expect(
    await submit({
      ...(await prepare(owner, 4_000_000n, { account_id })),
      preparation_id: newer.preparation_id,
    }),
  ).toBe('conflict');
});

test.each<[string, (message: Message) => Message]>([
  [
    'another allowance',
    (message) =>
      changed(message, 1, (data) => {
        data[1] = 0xff;
      }),
  ],
  [
    'another blockhash',
    (message) =>
      new Message({ ...argumentsOf(message), recentBlockhash: Keypair.generate().publicKey.toBase58() }),
  ],
  ['another fee payer', (message) => withKey(message, 0, Keypair.generate().publicKey)],
  [
    'another delegate',
    (message) =>
      withKey(
        message,
        message.accountKeys.findIndex((key) => key.toBase58() === fixture.authority),
        Keypair.generate().publicKey,
      ),
  ],
])('delegation: %s is refused and nothing is co-signed', async (_name, alter) => {
  const owner = Keypair.generate();
  const prepared = await prepare(owner, 3_000_000n);
  const transaction = signAs(owner, prepared.transaction, alter);
  expect(await codeOf(ask('submitPrepared', { preparation_id: prepared.preparation_id, transaction }))).toBe(
    'validation_error',
  );
  expect(fixture.events.of(prepared.preparation_id)).toEqual([]);
});

test('delegation: expired bytes are a conflict, decided by block height and not by a clock', async () => {
  const owner = Keypair.generate();
  const prepared = await prepare(owner, 3_000_000n);
  await fixture.chain.call('chain_advance', 160);
  const transaction = signAs(owner, prepared.transaction);
  expect(await codeOf(ask('submitPrepared', { preparation_id: prepared.preparation_id, transaction }))).toBe(
    'conflict',
  );
});

test('the token account of a provisioned wallet is created once, at most three per account', async () => {
  const account_id = newId('acct');
  const owners = Array.from({ length: 5 }, () => Keypair.generate().publicKey.toBase58());
  const wallets = owners.map((owner) => ({ wallet_id: newId('wal'), account_id, owner }));
  for (const wallet of wallets) await fixture.send(fixture.walletBus, 'createTokenAccount', wallet);
  const ends = await until(
    async () => wallets.map(({ wallet_id }) => fixture.events.of(wallet_id).at(-1)?.status),
    (all) => all.every((status) => status === 'finalized' || status === 'failed'),
  );
  expect(ends.filter((status) => status === 'finalized')).toHaveLength(3);
  expect(fixture.events.names(wallets[0]!.wallet_id)[0]).toBe('tokenAccountProgressed');
});

test('reserveTokenAccount grants three addresses per account for ever, repeats the grant of an address, and keeps the limit in 20 concurrent calls', async () => {
  const quotes = await fixture.quoteBus();
  const reserve = (account_id: string, owner: string) =>
    call(quotes, chainSubmitter, 'reserveTokenAccount', {
      account_id,
      owner,
      until: new Date(Date.now() + 700_000).toISOString(),
    }).then(({ status }) => status);
  const account = newId('acct');
  const owners = Array.from({ length: 20 }, () => Keypair.generate().publicKey.toBase58());
  const statuses = await Promise.all(owners.map((owner) => reserve(account, owner)));
  expect(statuses.filter((status) => status === 'granted')).toHaveLength(3);
  const granted = owners[statuses.indexOf('granted')]!;
  expect(await reserve(account, granted)).toBe('granted');
  const payer = await fixture.payer(1n);
  expect(await reserve(account, payer.owner.publicKey.toBase58())).toBe('exists');
});

test.each<[string, () => string]>([
  ['the token program', () => 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
  ['the System program', () => '11111111111111111111111111111111'],
  ['a sysvar', () => 'SysvarC1ock11111111111111111111111111111111'],
  ['the mint', () => fixture.keys.mint],
  ['a token account', () => fixture.outside.tokenAccount(fixture.keys.feeWallet.address).toBase58()],
  ['the fee payer', () => fixture.keys.feePayer.address],
  ['a key of small order', () => new PublicKey(Uint8Array.of(1, ...new Uint8Array(31))).toBase58()],
  ['an owner off the curve', () => vault().toBase58()],
])('an address that is neither a wallet nor a payout address: %s', async (_name, address) => {
  const identity = await fixture.identityBus();
  const check = (allow_off_curve: boolean) =>
    codeOf(
      call(identity, chainSubmitter, 'checkPayoutAddress', { payout_address: address(), allow_off_curve }),
    );
  expect(await codeOf(ask('describeWallet', { public_key: address() }))).toBe('validation_error');
  expect(await check(false)).toBe('validation_error');
  expect(await check(true)).toBe(_name === 'an owner off the curve' ? 'ok' : 'validation_error');
});

test('the error for a refused address names the field of the public call', async () => {
  const identity = await fixture.identityBus();
  const { mint: address } = fixture.keys;
  const named = (path: string) => ({ extras: { details: [{ path }] } });
  const payout = { payout_address: address, allow_off_curve: false };
  await expect(call(identity, chainSubmitter, 'checkPayoutAddress', payout)).rejects.toMatchObject(
    named('payout_address'),
  );
  await expect(ask('describeWallet', { public_key: address })).rejects.toMatchObject(named('public_key'));
});

test('the refusal of a token account names its owner, whatever its curve', async () => {
  const identity = await fixture.identityBus();
  const owner = Keypair.generate().publicKey.toBase58();
  const wallet = { wallet_id: newId('wal'), account_id: newId('acct'), owner };
  await fixture.send(fixture.walletBus, 'createTokenAccount', wallet);
  await until(
    async () => fixture.events.of(wallet.wallet_id).at(-1)?.status,
    (status) => status === 'finalized',
  );
  const payout_address = fixture.outside.tokenAccount(owner).toBase58();
  for (const allow_off_curve of [false, true])
    await expect(
      call(identity, chainSubmitter, 'checkPayoutAddress', { payout_address, allow_off_curve }),
    ).rejects.toThrow(`payout_address: is a token account; give its owner ${owner}`);
});

test('a new key is a valid wallet, and the newest authority serves it', async () => {
  const owner = Keypair.generate().publicKey;
  expect(await ask('describeWallet', { public_key: owner.toBase58() })).toEqual({
    token_account: fixture.outside.tokenAccount(owner).toBase58(),
    authority: fixture.authority,
  });
});

const vault = () => PublicKey.findProgramAddressSync([Buffer.from('vault')], Keypair.generate().publicKey)[0];
const argumentsOf = ({ header, accountKeys, recentBlockhash, instructions }: Message) => ({
  header,
  accountKeys,
  recentBlockhash,
  instructions,
});
const withKey = (message: Message, at: number, key: PublicKey) =>
  new Message({
    ...argumentsOf(message),
    accountKeys: message.accountKeys.map((old, index) => (index === at ? key : old)),
  });
const changed = (message: Message, at: number, change: (data: Buffer) => void) => {
  const instructions = message.instructions.map((instruction, index) => {
    if (index !== at) return instruction;
    const data = Buffer.from(bs58.decode(instruction.data));
    change(data);
    return { ...instruction, data: bs58.encode(data) };
  });
  return new Message({ ...argumentsOf(message), instructions });
};

import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { call, forward } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import { wallet } from '../../../shared/contract/index.ts';
import { encodeBase58 } from '../../../shared/lib/chain/base58.ts';
import { rawPublicKey, signBytes } from '../../../shared/lib/chain/ed25519.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import { collectNotes } from '../../../test/support/fixtures/security-notes.ts';
import { createTestBus, type TestBus } from '../../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { type ServiceProcess, startService } from '../../../test/support/servers/service-process.ts';
import {
  AUTHORITY,
  type ChainStandIn,
  signedByOwner,
  startChainStandIn,
} from '../../../test/support/stand-ins/chain-stand-in.ts';
import type { Prepared } from '../delegations/prepare-delegation.ts';
import type { WalletView } from './view.ts';

let database: TestDatabase;
let testBus: TestBus;
let gateway: Bus;
let settlement: Bus;
let identity: Bus;
let chain: ChainStandIn;
let service: ServiceProcess | undefined;

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  gateway = await testBus.as('gateway');
  settlement = await testBus.as('settlement');
  identity = await testBus.as('identity');
  chain = startChainStandIn(await testBus.as('chain-submitter'));
  const env = { CURSOR_KEY: randomBytes(32).toString('base64url'), CHAIN_WAIT_MS: '5000' };
  service = await startService('wallet', env, { testBus, database });
});

afterAll(async () => {
  expect(await service?.stop()).toBe(0);
  await chain.stop();
  await Promise.all([database.drop(), testBus.stop()]);
});

beforeEach(() => {
  Object.assign(chain.outcomes, { delegation: 'confirmed', tokenAccount: 'confirmed' });
});

type Consumer = { accountId: string; key: KeyObject; address: string };
const consumer = (accountId = newId('acct')): Consumer => {
  const key = generateKeyPairSync('ed25519').privateKey;
  return { accountId, key, address: encodeBase58(rawPublicKey(key)) };
};

const proofOf = ({ accountId, key, address }: Consumer, issuedAt = new Date()) => {
  const message = `Quittance wallet proof\naccount: ${accountId}\nwallet: ${address}\nissued_at: ${issuedAt.toISOString()}`;
  return { message, signature: encodeBase58(signBytes(Buffer.from(message), key)) };
};

const ask = <T = WalletView>(name: string, who: Consumer, input: object, signedInMsAgo = 0): Promise<T> => {
  const auth_time = Math.floor((Date.now() - signedInMsAgo) / 1000);
  const principal = { kind: 'jwt', account_id: who.accountId, session_id: 'ses', auth_time } as const;
  return forward(gateway, wallet, name, input, principal, { timeoutMs: 25_000, headers: {} }) as Promise<T>;
};
const link = (who: Consumer, extra: object = {}, name = 'link') =>
  ask(name, who, { public_key: who.address, proof: proofOf(who), ...extra });
const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

const onboard = async (who: Consumer, walletId: string, allowance = '5000000') => {
  const { transaction } = await ask<Prepared>('onboarding', who, { wallet_id: walletId, allowance });
  const signed = signedByOwner(transaction);
  return { signed, view: () => ask('delegate', who, { wallet_id: walletId, transaction: signed }) };
};

describe('link', () => {
  test('the answer shows the wallet as it is on the chain', async () => {
    const ada = consumer();
    chain.account(ada.address).balance = 7n;
    const view = await link(ada, { label: 'Savings' });
    expect(view).toMatchObject({
      kind: 'external',
      address: ada.address,
      label: 'Savings',
      balance: '7',
      delegation: { status: 'none', delegate: null, allowance: '0' },
    });
  });

  test('a repeated or concurrent link answers the same wallet, and a different one is a conflict', async () => {
    const ada = consumer();
    const views = await Promise.all(Array.from({ length: 8 }, () => link(ada)));
    expect(new Set(views.map(({ wallet_id }) => wallet_id)).size).toBe(1);
    expect((await link(ada)).wallet_id).toBe(views[0]!.wallet_id);
    expect(await refusal(link(ada, { label: 'other' }))).toBe('conflict');
    expect(await refusal(link(ada, {}, 'provision'))).toBe('conflict');
  });

  test('the owner hears of a linked wallet once, and of each read and change of its backup', async () => {
    const notesOf = await collectNotes(testBus, 'wallet');
    const ada = consumer();
    const { wallet_id } = await link(ada, { backup: 'ciphertext' }, 'provision');
    await link(ada, { backup: 'ciphertext' }, 'provision');
    await ask('backup', ada, { wallet_id });
    const change = { replaces: 'ciphertext', backup: 'another', proof: proofOf(ada) };
    await ask('replaceBackup', ada, { wallet_id, ...change });
    const notes = await notesOf(ada.accountId, 3);
    expect(notes.map(({ kind, details }) => [kind, details.wallet_id])).toEqual(
      ['wallet_linked', 'backup_read', 'backup_replaced'].map((kind) => [kind, wallet_id]),
    );
  });

  test('a public key belongs to one account', async () => {
    const ada = consumer();
    await link(ada);
    expect(await refusal(link({ ...ada, accountId: newId('acct') }))).toBe('conflict');
  });

  test('an old sign-in is refused before any other check', async () => {
    const ada = consumer();
    const input = { public_key: ada.address, proof: proofOf(ada) };
    expect(await refusal(ask('link', ada, input, 301_000))).toBe('reauthentication_required');
    expect(await refusal(ask('provision', ada, input, 301_000))).toBe('reauthentication_required');
  });

  test('a proof of another account or key, or an old one, is refused and links nothing', async () => {
    const [ada, eve] = [consumer(), consumer()];
    const tries = [
      { public_key: ada.address, proof: proofOf(eve) },
      { public_key: eve.address, proof: proofOf({ ...ada, address: eve.address }) },
      { public_key: ada.address, proof: proofOf({ ...ada, accountId: eve.accountId }) },
      { public_key: ada.address, proof: proofOf(ada, new Date(Date.now() - 301_000)) },
    ];
    for (const input of tries) expect(await refusal(ask('link', ada, input))).toBe('validation_error');
    expect(await ask('list', ada, {})).toEqual({ data: [], next_cursor: null });
  });

  test('the address of a program cannot be linked', async () => {
    const program = consumer();
    chain.refused.add(program.address);
    expect(await refusal(link(program))).toBe('validation_error');
  });
});

describe('list and find', () => {
  test('pages are newest first, and a cursor is valid for its account alone', async () => {
    const account = newId('acct');
    const views: WalletView[] = [];
    for (let i = 0; i < 3; i++) views.push(await link(consumer(account)));
    const who = consumer(account);
    type Page = { data: WalletView[]; next_cursor: string | null };
    const first = await ask<Page>('list', who, { limit: '2' });
    expect(first.data.map(({ wallet_id }) => wallet_id)).toEqual([views[2]!.wallet_id, views[1]!.wallet_id]);
    const second = await ask<Page>('list', who, { limit: '2', cursor: first.next_cursor });
    expect(second).toMatchObject({ data: [{ wallet_id: views[0]!.wallet_id }], next_cursor: null });
    expect(await refusal(ask('list', consumer(), { cursor: first.next_cursor }))).toBe('validation_error');
  });

  test('one wallet is the default when several are linked concurrently', async () => {
    const account = newId('acct');
    expect(await call(settlement, wallet, 'find', { account_id: account })).toBeNull();
    const views = await Promise.all(Array.from({ length: 4 }, () => link(consumer(account))));
    const found = await call(settlement, wallet, 'find', { account_id: account });
    const view = views.find(({ wallet_id }) => wallet_id === found?.wallet_id)!;
    expect(found).toEqual({
      wallet_id: view.wallet_id,
      owner: view.address,
      token_account: view.token_account,
      authority: AUTHORITY,
    });
  });

  test('a wallet of another account is not found', async () => {
    const [ada, eve] = [consumer(), consumer()];
    const { wallet_id } = await link(ada);
    for (const [name, extra] of [
      ['onboarding', { allowance: '1' }],
      ['delegate', {}],
      ['delegate', { transaction: 'AAAA' }],
      ['revoke', {}],
    ] as const) {
      expect(await refusal(ask(name, eve, { wallet_id, ...extra }))).toBe('not_found');
    }
    expect(await call(settlement, wallet, 'find', { account_id: eve.accountId, wallet_id })).toBeNull();
  });
});

describe('provision', () => {
  test('the call answers when the token account exists', async () => {
    const ada = consumer();
    const view = await link(ada, { backup: 'ciphertext' }, 'provision');
    expect(view.kind).toBe('provisioned');
    expect(chain.account(ada.address).exists).toBe(true);
    expect(chain.jobs.filter((id) => id === view.wallet_id)).toHaveLength(1);
    expect((await link(ada, { backup: 'ciphertext' }, 'provision')).wallet_id).toBe(view.wallet_id);
    expect(await refusal(link(ada, { backup: 'another' }, 'provision'))).toBe('conflict');
    expect(await refusal(link(consumer(), { backup: 'a\0b' }, 'provision'))).toBe('validation_error');
  });

  test('the backup is returned to its owner alone, after a fresh sign-in', async () => {
    const ada = consumer();
    const { wallet_id } = await link(ada, { backup: 'ciphertext' }, 'provision');
    expect(await ask('backup', ada, { wallet_id })).toEqual({ wallet_id, backup: 'ciphertext' });
    expect(await refusal(ask('backup', consumer(), { wallet_id }))).toBe('not_found');
    expect(await refusal(ask('backup', ada, { wallet_id }, 301_000))).toBe('reauthentication_required');
    const linked = await link(consumer(ada.accountId));
    expect(await refusal(ask('backup', ada, { wallet_id: linked.wallet_id }))).toBe('not_found');
  });

  test('the backup is replaced with a proof of the key, if the caller has read the latest one', async () => {
    const ada = consumer();
    const { wallet_id } = await link(ada, { backup: 'one' }, 'provision');
    const replace = (replaces: string, backup: string, who = ada, proof = proofOf(who), ago = 0) =>
      ask('replaceBackup', who, { wallet_id, proof, replaces, backup }, ago);
    expect(await replace('one', 'two')).toEqual({ wallet_id, backup: 'two' });
    // A repeat after a lost answer.
    expect(await replace('one', 'two')).toEqual({ wallet_id, backup: 'two' });
    expect(await refusal(replace('one', 'three'))).toBe('conflict');
    expect(await refusal(replace('two', 'three', consumer()))).toBe('not_found');
    expect(await refusal(replace('two', 'three', ada, proofOf(consumer(ada.accountId))))).toBe(
      'validation_error',
    );
    expect(await refusal(replace('two', 'three', ada, proofOf(ada), 301_000))).toBe(
      'reauthentication_required',
    );
    expect(await ask('backup', ada, { wallet_id })).toEqual({ wallet_id, backup: 'two' });
    const linked = await link(consumer(ada.accountId));
    const foreign = { wallet_id: linked.wallet_id, proof: proofOf(ada), replaces: 'two', backup: 'x' };
    expect(await refusal(ask('replaceBackup', ada, foreign))).toBe('not_found');
  });

  test('a wallet can be used when its token account could not be created', async () => {
    chain.outcomes.tokenAccount = 'failed';
    const ada = consumer();
    expect(await link(ada, {}, 'provision')).toMatchObject({ address: ada.address, balance: '0' });
  });

  test('rule 16: a lost job is dispatched again after 15 s', async () => {
    chain.outcomes.tokenAccount = 'silent';
    const ada = consumer();
    const before = chain.jobs.length;
    const answer = link(ada, {}, 'provision');
    await waitFor(
      () => chain.jobs.length,
      (count) => count > before,
    );
    chain.outcomes.tokenAccount = 'confirmed';
    const view = await database.withClock('16 seconds', () => answer);
    expect(chain.account(ada.address).exists).toBe(true);
    expect(chain.jobs.filter((id) => id === view.wallet_id).length).toBeGreaterThanOrEqual(2);
  });
});

describe('delegation', () => {
  test('onboarding, delegate and revoke have the same result when a submit is repeated', async () => {
    const ada = consumer();
    const { wallet_id } = await link(ada);
    const { view, signed } = await onboard(ada, wallet_id);
    const active = { status: 'active', delegate: AUTHORITY, allowance: '5000000' };
    expect(await view()).toMatchObject({ delegation: active });
    expect(await ask('delegate', ada, { wallet_id, transaction: signed })).toMatchObject({
      delegation: active,
    });

    const { transaction } = await ask<Prepared>('revoke', ada, { wallet_id });
    const input = { wallet_id, transaction: signedByOwner(transaction) };
    for (let i = 0; i < 2; i++) {
      expect(await ask('revoke', ada, input)).toMatchObject({
        delegation: { status: 'revoked', delegate: null },
      });
    }
  });

  test('delegate without a transaction prepares another one with the latest allowance', async () => {
    const ada = consumer();
    const { wallet_id } = await link(ada);
    expect(await refusal(ask('delegate', ada, { wallet_id }))).toBe('conflict');
    const old = await onboard(ada, wallet_id, '42');
    const { transaction } = await ask<Prepared>('delegate', ada, { wallet_id });
    expect(await refusal(old.view())).toBe('validation_error');
    const view = await ask('delegate', ada, { wallet_id, transaction: signedByOwner(transaction) });
    expect(view.delegation).toMatchObject({ status: 'active', allowance: '42' });
  });

  test('a transaction that was not prepared is refused', async () => {
    const ada = consumer();
    const { wallet_id } = await link(ada);
    expect(await refusal(ask('delegate', ada, { wallet_id, transaction: 'AAAA' }))).toBe('conflict');
    expect(await refusal(ask('revoke', ada, { wallet_id, transaction: 'AAAA' }))).toBe('conflict');
    await onboard(ada, wallet_id);
    expect(await refusal(ask('delegate', ada, { wallet_id, transaction: 'AAAA' }))).toBe('validation_error');
    expect(await refusal(ask('revoke', ada, { wallet_id, transaction: 'AAAA' }))).toBe('conflict');
  });

  test('a delegation that fails on the chain fails every repeat and can be prepared again', async () => {
    chain.outcomes.delegation = 'failed';
    const ada = consumer();
    const { wallet_id } = await link(ada);
    const { view } = await onboard(ada, wallet_id);
    expect(await refusal(view())).toBe('payment_failed');
    expect(await refusal(view())).toBe('payment_failed');
    chain.outcomes.delegation = 'confirmed';
    const again = await onboard(ada, wallet_id);
    expect((await again.view()).delegation.status).toBe('active');
  });

  test('a delegation is pending while the chain is slower than the wait', async () => {
    chain.outcomes.delegation = 'silent';
    const ada = consumer();
    const { wallet_id } = await link(ada);
    const { view } = await onboard(ada, wallet_id);
    expect((await view()).delegation.status).toBe('pending');
  });
});

describe('the default wallet', () => {
  const setDefault = async (accountId: string, wallet_id: string | null) =>
    (await call(identity, wallet, 'setDefault', { account_id: accountId, wallet_id })).found;
  const defaultOf = async (accountId: string) =>
    (await call(settlement, wallet, 'find', { account_id: accountId }))?.wallet_id;

  test('it is the first linked wallet, until another one is set and after that is reset', async () => {
    const ada = consumer();
    expect([await setDefault(ada.accountId, null), await defaultOf(ada.accountId)]).toEqual([
      true,
      undefined,
    ]);
    const first = await link(ada);
    const second = await link(consumer(ada.accountId));
    expect(await defaultOf(ada.accountId)).toBe(first.wallet_id);
    for (const each of [second, second, first, second]) {
      expect(await setDefault(ada.accountId, each.wallet_id)).toBe(true);
      expect(await defaultOf(ada.accountId)).toBe(each.wallet_id);
    }
    expect([await setDefault(ada.accountId, null), await defaultOf(ada.accountId)]).toEqual([
      true,
      first.wallet_id,
    ]);
  });

  test('a wallet of another account and an unknown one are refused and change nothing', async () => {
    const [ada, eve] = [consumer(), consumer()];
    const [mine, theirs] = [await link(ada), await link(eve)];
    expect(await setDefault(ada.accountId, theirs.wallet_id)).toBe(false);
    expect(await setDefault(ada.accountId, newId('wal'))).toBe(false);
    expect([await defaultOf(ada.accountId), await defaultOf(eve.accountId)]).toEqual([
      mine.wallet_id,
      theirs.wallet_id,
    ]);
  });

  test('of concurrent changes one becomes the default', async () => {
    const ada = consumer();
    const wallets = [
      await link(ada),
      await link(consumer(ada.accountId)),
      await link(consumer(ada.accountId)),
    ];
    const ids = wallets.map(({ wallet_id }) => wallet_id);
    const answers = await Promise.all(
      ids.flatMap((id) => [id, id]).map((id) => setDefault(ada.accountId, id)),
    );
    expect(answers).toEqual(Array.from({ length: 6 }, () => true));
    expect(ids).toContain(await defaultOf(ada.accountId));
  });
});

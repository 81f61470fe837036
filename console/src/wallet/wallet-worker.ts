import { address as addressOf, getAddressDecoder, getAddressEncoder, getBase58Decoder } from '@solana/kit';
import { proofMessage } from './proof.ts';
import {
  type Deed,
  type Owner,
  RefusedError,
  readTransaction,
  type Wanted,
  withSignature,
} from './read-transaction.ts';
import { formatRecoveryCode } from './recovery-code.ts';
import { addPasskey, type PasskeySecret, random, readBackup, type Secret, seal, unseal } from './vault.ts';

/**
 * The only place with an unwrapped private key, and only while it signs (ADR 32). The worker reads
 * the bytes first, and refuses everything that was not requested.
 */

/** The new key until its wallet exists. Then the page ends this worker. */
let made: { keys: CryptoKeyPair; address: string } | null = null;

const sign = async (key: CryptoKey, bytes: BufferSource): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign('Ed25519', key, bytes));

const proofBy = async (key: CryptoKey, accountId: string, address: string) => {
  const message = proofMessage(accountId, address);
  const signature = await sign(key, new TextEncoder().encode(message));
  return { message, signature: getBase58Decoder().decode(signature) };
};

const operations = {
  /** Generates a key. The code is shown to the user, and the backup goes to the API. */
  make: async ({ passkey }: { passkey: PasskeySecret | null }) => {
    const keys = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
    const raw = new Uint8Array(await crypto.subtle.exportKey('raw', keys.publicKey));
    const address: string = getAddressDecoder().decode(raw);
    const code = random(16);
    const backup = await seal(keys.privateKey, { publicKey: address, code, passkey });
    made = { keys, address };
    return { address, backup, code: await formatRecoveryCode(code) };
  },
  /**
   * Proves that the new key belongs to this account (docs/spec/decisions.md, Wallets).
   */
  prove: async ({ accountId }: { accountId: string }) => {
    if (made === null) throw new Error('no key was created');
    return proofBy(made.keys.privateKey, accountId, made.address);
  },
  /** A backup with one more passkey, and a proof that the caller holds the key. */
  addPasskey: async ({
    accountId,
    address,
    backup,
    secret,
    passkey,
  }: {
    accountId: string;
    address: string;
    backup: string;
    secret: Secret;
    passkey: PasskeySecret;
  }) => {
    const read = readBackup(backup, address);
    const key = await unseal(read, address, secret, { toWrap: true });
    const proof = await proofBy(key, accountId, address);
    return { backup: await addPasskey(read, key, address, passkey), proof };
  },
  /** Reads what a prepared transaction does. */
  read: async ({ transaction, wanted, owner }: Asked): Promise<Deed> =>
    (await readTransaction(transaction, wanted, owner)).deed,
  /** Signs it with the key that the secret opens. */
  sign: async ({
    transaction,
    wanted,
    owner,
    backup,
    secret,
  }: Asked & { backup: string; secret: Secret }) => {
    const read = await readTransaction(transaction, wanted, owner);
    const key = await unseal(readBackup(backup, owner.address), owner.address, secret);
    const bytes = new Uint8Array(read.transaction.messageBytes);
    const signature = await sign(key, bytes);
    // Whatever the backup contained, only a signature of this wallet's key leaves the worker.
    const raw = new Uint8Array(getAddressEncoder().encode(addressOf(owner.address)));
    const publicKey = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify']);
    if (!(await crypto.subtle.verify('Ed25519', publicKey, new Uint8Array(signature), bytes)))
      throw new RefusedError('the key in the backup is not this wallet’s');
    return withSignature(read.transaction, owner, signature);
  },
};

/** A transaction with its required content. */
type Asked = { transaction: string; wanted: Wanted; owner: Owner };
export type Operations = typeof operations;
export type Question = { id: number; name: keyof Operations; input: never };
export type Reply = { id: number } & ({ answer: unknown } | { error: { name: string; message: string } });

addEventListener('message', async ({ data: { id, name, input } }: MessageEvent<Question>) => {
  try {
    postMessage({ id, answer: await operations[name](input) } satisfies Reply);
  } catch (error) {
    const { name: kind, message } = error as Error;
    postMessage({ id, error: { name: kind, message } } satisfies Reply);
  }
});

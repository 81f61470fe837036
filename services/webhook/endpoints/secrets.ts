import { createHash, randomBytes } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';

const PREFIX = 'whsec_';

/** A new secret in the form of Standard Webhooks: 32 random bytes. */
export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`;

/**
 * Secrets sign deliveries, so their text is needed and a hash is not enough. The database stores
 * them encrypted (JWE, dir with A256GCM) and bound to their endpoint: an attacker who can write to
 * the table cannot replace the secret of an endpoint with one that they know.
 */
export type Secrets = {
  /** Seals with the first key. */
  seal: (endpointId: string, secret: string) => Promise<string>;
  /**
   * Opens what any key has sealed.
   * @throws for a text that was altered, encrypted with another key or sealed for another endpoint
   */
  open: (endpointId: string, sealed: string) => Promise<string>;
  /** How everything begins that the first key has sealed. */
  prefix: string;
  isOfFirstKey: (sealed: string) => boolean;
};

/** Names a key without revealing it. */
const kidOf = (key: Buffer): string =>
  createHash('sha256').update('secrets-key').update(key).digest('base64url').slice(0, 8);

const encrypt = (key: Buffer, text: string): Promise<string> =>
  new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: kidOf(key) })
    .encrypt(key);

const decrypt = async (keys: readonly Buffer[], sealed: string): Promise<string> => {
  const { kid } = decodeProtectedHeader(sealed);
  const key = keys.find((each) => kidOf(each) === kid);
  if (key === undefined) throw new Error('no key of SECRETS_KEY has sealed the secret');
  const { plaintext } = await compactDecrypt(sealed, key, {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  return Buffer.from(plaintext).toString('utf8');
};

/** @param keys the first one seals, and all open */
export const createSecrets = (keys: readonly Buffer[]): Secrets => {
  const [first] = keys as [Buffer, ...Buffer[]];
  // The header is the first part of a JWE, and the same for everything that a key seals.
  const header = JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: kidOf(first) });
  const prefix = `${Buffer.from(header).toString('base64url')}.`;
  return {
    seal: (endpointId, secret) => encrypt(first, JSON.stringify([endpointId, secret])),
    open: async (endpointId, sealed) => {
      const [sealedFor, secret] = JSON.parse(await decrypt(keys, sealed)) as [string, string];
      if (sealedFor !== endpointId) throw new Error('the secret belongs to another endpoint');
      return secret;
    },
    prefix,
    isOfFirstKey: (sealed) => sealed.startsWith(prefix),
  };
};

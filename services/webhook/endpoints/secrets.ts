import { randomBytes } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

const PREFIX = 'whsec_';

/** A new secret in the form of Standard Webhooks: 32 random bytes. */
export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`;

/**
 * Secrets sign deliveries, so their text is needed and a hash is not enough. The database stores
 * them encrypted (JWE, dir with A256GCM) and bound to their endpoint: an attacker who can write to
 * the table cannot replace the secret of an endpoint with one that they know.
 */
export type Secrets = {
  seal: (endpointId: string, secret: string) => Promise<string>;
  /**
   * @throws for a text that was altered, encrypted with another key or sealed for another endpoint
   */
  open: (endpointId: string, sealed: string) => Promise<string>;
};

export const createSecrets = (key: Buffer): Secrets => ({
  seal: (endpointId, secret) =>
    new CompactEncrypt(Buffer.from(JSON.stringify([endpointId, secret])))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(key),
  open: async (endpointId, sealed) => {
    const { plaintext } = await compactDecrypt(sealed, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    const [sealedFor, secret] = JSON.parse(Buffer.from(plaintext).toString('utf8')) as [string, string];
    if (sealedFor !== endpointId) throw new Error('the secret belongs to another endpoint');
    return secret;
  },
});

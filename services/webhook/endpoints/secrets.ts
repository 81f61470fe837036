import { randomBytes } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { Webhook } from 'standardwebhooks';

const PREFIX = 'whsec_';

/** A new secret as Standard Webhooks spell it: 32 random bytes. */
export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`;

/**
 * Secrets sign, so their text is needed and no hash will do. At rest they are encrypted (JWE, dir with A256GCM) and bound to
 * their endpoint: who can write to the table cannot put a secret they know in another's place.
 */
export type Secrets = {
  seal: (endpointId: string, secret: string) => Promise<string>;
  /** @throws for what was altered, encrypted with another key or sealed for another endpoint */
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
    const [owner, secret] = JSON.parse(Buffer.from(plaintext).toString('utf8')) as [string, string];
    if (owner !== endpointId) throw new Error('the secret of another endpoint');
    return secret;
  },
});

/**
 * The headers of a delivery, with a signature of each secret: a receiver that knows either accepts it.
 * @param now of this try, epoch milliseconds: receivers refuse what is older than five minutes
 */
export const signedHeaders = (
  secrets: readonly string[],
  { id, body, now }: { id: string; body: string; now: number },
): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(now / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(now), body)).join(' '),
});

import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { privateKeyFromSeed, publicKeyFromRaw } from '../chain/ed25519.ts';
import { JsonText } from '../config.ts';

/**
 * Signing keys and public keys. A kid is `<env>.<use>.<n>`, and a key is valid only for the
 * environment and use in its kid (docs/spec/decisions.md, Environments). Public keys are configured
 * and never sent over the bus, so no service can make another one accept its own key.
 */
type KeyUse = 'quote' | 'settlement' | 'session';
export type SigningKey = { kid: string; key: KeyObject };
export type PublicKey = {
  kid: string;
  env: string;
  use: KeyUse;
  x: string;
  key: KeyObject;
  /** Since when it signs nothing. */
  retiredAt: number | null;
  /**
   * Set if others may have the private key: since when. Its holder writes any time into what it
   * signs, so nothing that it signed proves anything any more.
   */
  compromisedAt: number | null;
};
export type PublicKeys = ReadonlyMap<string, PublicKey>;

const KID = /^(test|live)\.(quote|settlement|session)\.[1-9][0-9]{0,5}$/;

/**
 * `kid:base64url-seed`, comma separated, the current key first. For a zod schema of the
 * configuration.
 */
export const SigningKeys = z.string().transform((text, context): SigningKey[] => {
  const keys: SigningKey[] = [];
  for (const part of text.split(',')) {
    const [kid, seed, ...rest] = part.trim().split(':');
    const bytes = Buffer.from(seed ?? '', 'base64url');
    if (kid === undefined || !KID.test(kid) || rest.length > 0 || bytes.length !== 32) {
      context.addIssue({
        code: 'custom',
        message: 'must be kid:base64url-seed of 32 bytes, comma separated',
      });
      return z.NEVER;
    }
    keys.push({ kid, key: privateKeyFromSeed(bytes) });
  }
  return keys;
});

const PublicKeyEntry = z.strictObject({
  kid: z.string().regex(KID),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  retired_at: z.iso.datetime().optional(),
  compromised_at: z.iso.datetime().optional(),
});

const timeOf = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));

/** Whether a key proves what it signed at a time, in epoch milliseconds. */
export const isInForce = (
  { retiredAt, compromisedAt }: Pick<PublicKey, 'retiredAt' | 'compromisedAt'>,
  issuedAt: number,
): boolean => compromisedAt === null && (retiredAt === null || issuedAt <= retiredAt);

/**
 * A JSON list of `{ kid, x, retired_at?, compromised_at? }`. For a zod schema of the configuration.
 */
export const PublicKeyList = JsonText.pipe(z.array(PublicKeyEntry)).transform(
  (entries): PublicKeys =>
    new Map(
      entries.map(({ kid, x, retired_at, compromised_at }) => {
        const [env, use] = kid.split('.') as [string, KeyUse];
        const key = publicKeyFromRaw(Buffer.from(x, 'base64url'));
        const ends = { retiredAt: timeOf(retired_at), compromisedAt: timeOf(compromised_at) };
        return [kid, { kid, env, use, x, key, ...ends }];
      }),
    ),
);

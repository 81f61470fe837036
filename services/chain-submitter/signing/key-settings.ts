import { z } from 'zod';
import { type KeyUri, KeyUriError, parseKeyUri } from './pkcs11/key-uri.ts';
import { keySigner, type Signer } from './signer.ts';

/** A configured key: the key itself, or the name of a key on a PKCS#11 token. */
export type ConfiguredKey = { signer: Signer } | { uri: KeyUri };
export type NumberedKey = { number: number; key: ConfiguredKey };

const parseKey = (text: string): ConfiguredKey | { error: string } => {
  try {
    return text.startsWith('pkcs11:') ? { uri: parseKeyUri(text) } : { signer: keySigner(text) };
  } catch (error) {
    if (error instanceof KeyUriError)
      return { error: `is a pkcs11: URI that cannot be used: ${error.message}` };
    return { error: 'must be a 64-byte secret key in base58, or a pkcs11: URI' };
  }
};

/**
 * The zod schema of a setting that holds the base58 text of a 64-byte secret key, or a `pkcs11:`
 * URI.
 */
export const SecretKey = z.string().transform((text, context): ConfiguredKey => {
  const key = parseKey(text);
  if (!('error' in key)) return key;
  context.addIssue({ code: 'custom', message: key.error });
  return z.NEVER;
});

/** The address of a key, if it is known before its token is opened. */
export const addressOf = (key: ConfiguredKey): string | null =>
  'signer' in key ? key.signer.publicKey : key.uri.address;

const FORMAT = 'must be number:secret-key, comma separated, all different';

/**
 * The zod schema of a setting that holds distinct `number:key` pairs, comma separated. Keeps their
 * order. A comma inside a URI is written as %2C.
 */
export const NumberedSecretKeys = z.string().transform((text, context): NumberedKey[] => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const numbered: NumberedKey[] = [];
  for (const part of text.split(',')) {
    const [, number, value] = /^([1-9][0-9]{0,5}):(.*)$/.exec(part.trim()) ?? [];
    if (number === undefined || value === undefined) return refuse(FORMAT);
    const key = parseKey(value);
    if ('error' in key) return refuse(value.startsWith('pkcs11:') ? `${number}: ${key.error}` : FORMAT);
    numbered.push({ number: Number(number), key });
  }
  const distinct = (values: readonly unknown[]) => new Set(values).size === values.length;
  const addresses = numbered.flatMap(({ key }) => addressOf(key) ?? []);
  return distinct(numbered.map(({ number }) => number)) && distinct(addresses) ? numbered : refuse(FORMAT);
});

/** The keys by number, highest first. */
export const newestFirst = (keys: readonly NumberedKey[]): NumberedKey[] =>
  [...keys].sort((a, b) => b.number - a.number);

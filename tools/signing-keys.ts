// Replaces a signing key of quote, settlement or identity in three steps, each a change of
// configuration:
//   SIGNING_KEYS=… PUBLIC_KEYS=… node tools/signing-keys.ts publish | use | retire
// prints both variables anew. When each step may follow the one before: docs/signing-keys.md.
import { randomBytes } from 'node:crypto';
import { privateKeyFromSeed, rawPublicKey } from '../shared/lib/ed25519.ts';
import { PublicKeyList, SigningKeys } from '../shared/lib/keys.ts';

/** The two variables as a service and its verifiers read them. */
export type KeyConfig = { signingKeys: string; publicKeys: string };
type Entry = { kid: string; x: string; retired_at?: string };

const parse = ({ signingKeys, publicKeys }: KeyConfig) => {
  // Through the services' own schemas first: what they would refuse is refused here.
  SigningKeys.parse(signingKeys);
  PublicKeyList.parse(publicKeys);
  return {
    signing: signingKeys.split(',').map((part) => part.trim()),
    published: JSON.parse(publicKeys) as Entry[],
  };
};
const kidOf = (signingKey: string): string => signingKey.split(':')[0]!;
const print = (signing: readonly string[], published: readonly Entry[]): KeyConfig => ({
  signingKeys: signing.join(','),
  publicKeys: JSON.stringify(published),
});

/**
 * Step 1: a next key stands last among the signing keys, where it signs nothing, and is published.
 */
export const publish = (config: KeyConfig): KeyConfig => {
  const { signing, published } = parse(config);
  if (signing.length !== 1) throw new Error('there is a next key already: use it, or retire the old one');
  const prefix = kidOf(signing[0]!).replace(/[0-9]+$/, '');
  const numbers = published.filter(({ kid }) => kid.startsWith(prefix)).map(({ kid }) => kid.split('.')[2]);
  const kid = `${prefix}${Math.max(...numbers.map(Number)) + 1}`;
  const seed = randomBytes(32);
  const x = Buffer.from(rawPublicKey(privateKeyFromSeed(seed))).toString('base64url');
  return print([...signing, `${kid}:${seed.toString('base64url')}`], [...published, { kid, x }]);
};

/**
 * Step 2: the next key signs; the old one stands behind it, so that going back is one more `use`.
 */
export const use = (config: KeyConfig): KeyConfig => {
  const { signing, published } = parse(config);
  const [old, next] = signing;
  if (signing.length !== 2) throw new Error('there is no next key: publish one first');
  if (!published.some(({ kid }) => kid === kidOf(next!))) throw new Error('the next key is not published');
  return print([next!, old!], published);
};

/**
 * Step 3: the old key is gone from the signer; its public half stays, with the time after which it
 * signed nothing.
 */
export const retire = (config: KeyConfig, now = new Date()): KeyConfig => {
  const { signing, published } = parse(config);
  const [current, old] = signing;
  if (old === undefined || signing.length !== 2) throw new Error('there is no old key');
  return print(
    [current!],
    published.map((entry) =>
      entry.kid === kidOf(old) ? { ...entry, retired_at: now.toISOString() } : entry,
    ),
  );
};

if (import.meta.main) {
  const step = { publish, use, retire }[process.argv[2] ?? ''];
  const { SIGNING_KEYS: signingKeys, PUBLIC_KEYS: publicKeys } = process.env;
  if (step === undefined || signingKeys === undefined || publicKeys === undefined) {
    console.error('SIGNING_KEYS=… PUBLIC_KEYS=… node tools/signing-keys.ts publish | use | retire');
    process.exit(64);
  }
  const next = step({ signingKeys, publicKeys });
  console.log(`SIGNING_KEYS=${next.signingKeys}\nPUBLIC_KEYS=${next.publicKeys}`);
}

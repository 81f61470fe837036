// `npm run ops -- signing-keys`: replaces a signing key of quote, settlement or identity.
import { randomBytes } from 'node:crypto';
import { readCommandLine, refuse } from '../deploy/local/processes/command-line.ts';
import { privateKeyFromSeed, rawPublicKey } from '../shared/lib/chain/ed25519.ts';
import { PublicKeyList, SigningKeys } from '../shared/lib/tokens/keys.ts';

/** The two variables, in the format that a service and its verifiers read. */
export type KeyConfig = { signingKeys: string; publicKeys: string };
type Entry = { kid: string; x: string; retired_at?: string; compromised_at?: string };

const parse = ({ signingKeys, publicKeys }: KeyConfig) => {
  // Parsed with the services' schemas, so that values that a service would refuse are refused here.
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
 * Step 1: the next key is added as the last signing key, where it signs nothing, and is published.
 */
export const publish = (config: KeyConfig): KeyConfig => {
  const { signing, published } = parse(config);
  if (signing.length !== 1) throw new Error('there is already a second key: use it, or retire the old one');
  const prefix = kidOf(signing[0]!).replace(/[0-9]+$/, '');
  const numbers = published.filter(({ kid }) => kid.startsWith(prefix)).map(({ kid }) => kid.split('.')[2]);
  const kid = `${prefix}${Math.max(...numbers.map(Number)) + 1}`;
  const seed = randomBytes(32);
  const x = Buffer.from(rawPublicKey(privateKeyFromSeed(seed))).toString('base64url');
  return print([...signing, `${kid}:${seed.toString('base64url')}`], [...published, { kid, x }]);
};

/** Step 2: the next key signs. The old one becomes the second, so that a second `use` goes back. */
export const use = (config: KeyConfig): KeyConfig => {
  const { signing, published } = parse(config);
  const [old, next] = signing;
  if (signing.length !== 2) throw new Error('there is no next key: publish one first');
  if (!published.some(({ kid }) => kid === kidOf(next!)))
    throw new Error('the next key is not published: run publish first');
  return print([next!, old!], published);
};

/**
 * Step 3: the old key is removed from the signer. Its public key stays, with the time after which
 * it signed nothing.
 */
export const retire = (config: KeyConfig, now = new Date()): KeyConfig =>
  endOld(config, { retired_at: now.toISOString() });

/**
 * Step 3 if others may have the old key: nothing that it has signed is accepted any more, whatever
 * its time.
 */
export const compromise = (config: KeyConfig, now = new Date()): KeyConfig =>
  endOld(config, { retired_at: now.toISOString(), compromised_at: now.toISOString() });

const endOld = (config: KeyConfig, ends: Partial<Entry>): KeyConfig => {
  const { signing, published } = parse(config);
  const [current, old] = signing;
  if (old === undefined || signing.length !== 2) throw new Error('there is no old key to retire');
  return print(
    [current!],
    published.map((entry) => (entry.kid === kidOf(old) ? { ...entry, ...ends } : entry)),
  );
};

if (import.meta.main) {
  const { words, usage } = readCommandLine({
    typed: 'npm run ops -- signing-keys',
    words: 'publish|use|retire|compromise',
    about: `Replaces a signing key of quote, settlement or identity in three steps, each a change of configuration. Reads
SIGNING_KEYS and PUBLIC_KEYS, and prints their new values. docs/signing-keys.md describes when each step may follow.`,
    options: {},
  });
  const step = { publish, use, retire, compromise }[words[0] ?? ''];
  const { SIGNING_KEYS: signingKeys, PUBLIC_KEYS: publicKeys } = process.env;
  if (step === undefined) refuse(usage);
  if (signingKeys === undefined || publicKeys === undefined)
    refuse(`SIGNING_KEYS and PUBLIC_KEYS are required\n\n${usage}`);
  const next = step({ signingKeys, publicKeys });
  console.log(`SIGNING_KEYS=${next.signingKeys}\nPUBLIC_KEYS=${next.publicKeys}`);
}

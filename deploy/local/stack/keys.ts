import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import bs58 from 'bs58';
import { newNkeySeed } from '../../../shared/bus/nkey.ts';
import { type Program, SERVICE_NAMES, type ServiceName } from '../../../shared/contract/service.ts';
import { writeAtomically } from '../processes/atomic-file.ts';
import { networkOf } from './networks.ts';
import { programNames } from './programs.ts';

/** Signs the tokens of one purpose; `seed` and `publicKey` are 32 bytes as base64url. */
type SigningKey = { kid: string; seed: string; publicKey: string };

/** `secretKey` is Solana's 64 bytes (seed, public key) in base58. */
export type SolanaKeypair = { address: string; secretKey: string };

/**
 * All secrets of one environment of the local stack, and the address of its USDC. They are
 * worthless elsewhere.
 */
export type EnvironmentKeys = {
  signing: Record<'quote' | 'settlement' | 'session', SigningKey>;
  feePayer: SolanaKeypair;
  /** Numbered, so that one can be retired while another serves new wallets. */
  delegateAuthorities: (SolanaKeypair & { number: number })[];
  /** Owner of the token account that fees go to. */
  feeWallet: SolanaKeypair;
  /** Mints test USDC, and is also the funding authority. */
  mintAuthority: SolanaKeypair;
  /** Address of the environment's USDC, which is in the genesis of the local chain. */
  mint: string;
  /** Owner of the USDC that the sandboxes sell. */
  onrampTreasury: SolanaKeypair;
  /** Shared with the sandboxes, as a merchant shares keys with the real providers. */
  onramps: {
    moonpay: { publishableKey: string; secretKey: string; webhookKey: string };
    /** `keySecret` is base64 of seed and public key; `publicKey` base64url. */
    coinbase: { keyId: string; keySecret: string; publicKey: string; webhookSecret: string };
  };
  cursorKey: string;
  identitySecret: string;
  /** Encrypts the secrets of webhook endpoints. */
  webhookSecretsKey: string;
  databasePasswords: Record<ServiceName, string>;
  /** The seeds of the NKEYs of the processes and of `admin`. */
  natsSeeds: Record<Program | 'admin', string>;
  /** The seeds of the operators, by their names. */
  operatorSeeds: Record<string, string>;
};

/** The operator of a stack that names none. */
const DEFAULT_OPERATORS = ['local'];

/**
 * The keys of an environment. The first call creates them in `<stateDir>/keys-<environment>.json`.
 * @param operators operators who get a key if they have none
 */
export function environmentKeys(
  stateDir: string,
  environment: string,
  operators?: readonly string[],
): EnvironmentKeys {
  mkdirSync(stateDir, { recursive: true });
  const file = path.join(stateDir, `keys-${environment}.json`);
  const stored = existsSync(file) ? readStored(file) : {};
  const made = newKeys(environment);
  // Keys that a later version adds are created at that version's first start. Existing keys stay.
  const keys: EnvironmentKeys = {
    ...made,
    ...stored,
    mint: made.mint,
    signing: { ...made.signing, ...stored.signing },
    databasePasswords: { ...made.databasePasswords, ...stored.databasePasswords },
    natsSeeds: { ...made.natsSeeds, ...stored.natsSeeds },
    operatorSeeds: {
      ...perName(operators ?? (stored.operatorSeeds ? [] : DEFAULT_OPERATORS), newNkeySeed),
      ...stored.operatorSeeds,
    },
  };
  const text = `${JSON.stringify(keys, null, 2)}\n`;
  if (JSON.stringify(stored) !== JSON.stringify(keys)) writeAtomically(file, text, 0o600);
  return keys;
}

/** The variable CHAIN_GENESIS_MINT: the environment's USDC, and the authority that issues it. */
export function genesisMint({ mint, mintAuthority }: EnvironmentKeys): string {
  return `${mint}:${mintAuthority.address}`;
}

function readStored(file: string): Partial<EnvironmentKeys> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<EnvironmentKeys>;
  } catch {
    throw new Error(`${file} cannot be read: remove it together with its state by \`npm start -- --fresh\``);
  }
}

function newKeys(environment: string): EnvironmentKeys {
  const signingKey = (use: string): SigningKey => {
    const { seed, publicKey } = ed25519();
    const text = { seed: seed.toString('base64url'), publicKey: publicKey.toString('base64url') };
    return { kid: `${environment}.${use}.1`, ...text };
  };
  return {
    signing: {
      quote: signingKey('quote'),
      settlement: signingKey('settlement'),
      session: signingKey('session'),
    },
    feePayer: solanaKeypair(),
    delegateAuthorities: [{ number: 1, ...solanaKeypair() }],
    feeWallet: solanaKeypair(),
    mintAuthority: solanaKeypair(),
    mint: networkOf(environment).usdcMint,
    onrampTreasury: solanaKeypair(),
    onramps: onrampKeys(),
    cursorKey: secret(),
    identitySecret: secret(),
    webhookSecretsKey: secret(),
    databasePasswords: perName(SERVICE_NAMES, secret),
    natsSeeds: perName([...programNames, 'admin'], newNkeySeed),
    operatorSeeds: {},
  };
}

function onrampKeys(): EnvironmentKeys['onramps'] {
  const { seed, publicKey } = ed25519();
  return {
    moonpay: {
      publishableKey: `pk_test_${secret()}`,
      secretKey: `sk_test_${secret()}`,
      webhookKey: `wk_test_${secret()}`,
    },
    coinbase: {
      keyId: randomUUID(),
      keySecret: Buffer.concat([seed, publicKey]).toString('base64'),
      publicKey: publicKey.toString('base64url'),
      webhookSecret: randomUUID(),
    },
  };
}

function perName<Name extends string>(names: readonly Name[], make: () => string): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, string>;
}

/** 32 random bytes, base64url: safe in URLs and configuration files. */
function secret(): string {
  return randomBytes(32).toString('base64url');
}

function solanaKeypair(): SolanaKeypair {
  const { seed, publicKey } = ed25519();
  return { address: bs58.encode(publicKey), secretKey: bs58.encode(Buffer.concat([seed, publicKey])) };
}

function ed25519(): { seed: Buffer; publicKey: Buffer } {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  if (d === undefined || x === undefined) throw new Error('Node created an Ed25519 key without its values');
  return { seed: Buffer.from(d, 'base64url'), publicKey: Buffer.from(x, 'base64url') };
}

import { Point } from '@noble/ed25519';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { PROGRAMS } from './model/programs.ts';

export { PROGRAMS };

/**
 * Ids that are points on the curve or have no account to look at, and still belong to nobody: payouts to them
 * would be lost. Deployed programs besides these are recognised by their account.
 */
const RESERVED = new Set<string>([
  ...Object.values(PROGRAMS),
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Stake11111111111111111111111111111111111111',
  'StakeConfig11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'Feature111111111111111111111111111111111111',
  'AddressLookupTab1e1111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'NativeLoader1111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
  'ZkTokenProof1111111111111111111111111111111',
  'ZkE1Gama1Proof11111111111111111111111111111',
  'Sysvar1111111111111111111111111111111111111',
  'SysvarC1ock11111111111111111111111111111111',
  'SysvarEpochSchedu1e111111111111111111111111',
  'SysvarEpochRewards1111111111111111111111111',
  'SysvarFees111111111111111111111111111111111',
  'Sysvar1nstructions1111111111111111111111111',
  'SysvarLastRestartS1ot1111111111111111111111',
  'SysvarRecentB1ockHashes11111111111111111111',
  'SysvarRent111111111111111111111111111111111',
  'SysvarRewards111111111111111111111111111111',
  'SysvarS1otHashes111111111111111111111111111',
  'SysvarS1otHistory11111111111111111111111111',
  'SysvarStakeHistory1111111111111111111111111',
  '1nc1nerator11111111111111111111111111111111',
  'So11111111111111111111111111111111111111112',
]);

/** Programs, sysvars and other ids that nobody holds a key of. */
export const isReserved = (address: string): boolean => RESERVED.has(address);

/**
 * A key that keeps its text: a message is compiled by the texts of its keys, and web3.js works them out at every look, which
 * was a tenth of the time of a payment.
 */
class Address extends PublicKey {
  readonly #text: string;
  constructor(text: string) {
    super(text);
    this.#text = text;
  }
  override toBase58(): string {
    return this.#text;
  }
}

/** The key of an address that appears once. @throws Error when the text is none */
export const newKey = (address: string): PublicKey => new Address(address);

const keys = new LRUCache<string, PublicKey>({ max: 10_000 });

/** The key of an address that comes again. @throws Error when the text is none */
export const keyOf = (address: string): PublicKey => {
  const found = keys.get(address);
  if (found !== undefined) return found;
  const key = newKey(address);
  keys.set(address, key);
  return key;
};

/** Base58 text that is exactly 32 bytes, in its one spelling. */
export const isAddress = (text: string): boolean => {
  try {
    return new PublicKey(text).toBase58() === text;
  } catch {
    return false;
  }
};

/**
 * What kind of owner an address can be: `key` a point on the curve that one person can hold, `program` off the
 * curve (a multisig vault), `nobody` a point of small order, whose signatures anybody can make.
 */
export const ownerKind = (address: string): 'key' | 'program' | 'nobody' => {
  try {
    return Point.fromBytes(new PublicKey(address).toBytes()).isSmallOrder() ? 'nobody' : 'key';
  } catch {
    return 'program';
  }
};

const known = new LRUCache<string, string>({ max: 10_000 });

/** The associated token account of an owner, the only kind that is paid or spent from. Pure, kept: it costs hashes. */
export const tokenAccountOf = (owner: string, mint: string): string => {
  const key = `${owner}/${mint}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  // Off-curve owners are allowed here: whether one may be paid was decided when its service was made.
  const address = getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), true).toBase58();
  known.set(key, address);
  return address;
};

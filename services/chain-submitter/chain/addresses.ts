import { Point } from '@noble/ed25519';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { PROGRAMS } from '../ledger/model/programs.ts';

export { PROGRAMS };

/**
 * Ids without a key holder that are points on the curve or have no account to read. A payout to
 * them would be lost. Other deployed programs are recognised by their account.
 */
const RESERVED = new Set<string>([
  ...Object.values(PROGRAMS),
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Stake11111111111111111111111111111111111111',
  'StakeConfig11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'Feature111111111111111111111111111111111111',
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

/** Whether an address is a program, a sysvar or another id without a key holder. */
export const isReserved = (address: string): boolean => RESERVED.has(address);

/**
 * A key that stores its base58 text. web3.js sorts the keys of a message by their text and encodes
 * it again at each comparison, which was a tenth of the time of a payment.
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

/** The key of an address that is used once. @throws Error when the text is no address */
export const newKey = (address: string): PublicKey => new Address(address);

const keys = new LRUCache<string, PublicKey>({ max: 10_000 });

/** The cached key of an address that is used again. @throws Error when the text is no address */
export const keyOf = (address: string): PublicKey => {
  const found = keys.get(address);
  if (found !== undefined) return found;
  const key = newKey(address);
  keys.set(address, key);
  return key;
};

/** Whether a text is the canonical base58 form of 32 bytes. */
export const isAddress = (text: string): boolean => {
  try {
    return new PublicKey(text).toBase58() === text;
  } catch {
    return false;
  }
};

/**
 * The kind of owner that an address can be. `key`: a point on the curve, whose key one person can
 * hold. `program`: a point off the curve (a multisig vault). `nobody`: a point of small order, for
 * which anybody can forge signatures.
 */
export const ownerKind = (address: string): 'key' | 'program' | 'nobody' => {
  try {
    return Point.fromBytes(new PublicKey(address).toBytes()).isSmallOrder() ? 'nobody' : 'key';
  } catch {
    return 'program';
  }
};

const tokenAccounts = new LRUCache<string, string>({ max: 10_000 });

/**
 * The associated token account of an owner, the only kind that is paid or spent from. Cached: it
 * costs hashes.
 */
export const tokenAccountOf = (owner: string, mint: string): string => {
  const key = `${owner}/${mint}`;
  const found = tokenAccounts.get(key);
  if (found !== undefined) return found;
  // Off-curve owners are allowed here. Whether one may be paid was decided when its service was
  // created.
  const address = getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), true).toBase58();
  tokenAccounts.set(key, address);
  return address;
};

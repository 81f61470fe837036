import { fromBase64, fromHex, hex, utf8 } from '../../checks/encoding.ts';
import { hexOfAddress, TOKEN_PROGRAM, tokenAccountOf } from './token-accounts.ts';

/** Checks of a signed transaction that need no call. The API has the whole policy. */

/** The transfers of a payment. Addresses in base58, amounts in micro-units. */
export type Transfers = {
  feePayer: string;
  mint: string;
  legs: readonly { owner: string; amount: string }[];
};

/** Addresses in hexadecimal. */
type Instruction = { program: string; accounts: string[]; data: Uint8Array };
export type Transaction = {
  signatures: Uint8Array<ArrayBuffer>[];
  message: Uint8Array<ArrayBuffer>;
  signers: string[];
  /** An account of a lookup table is empty. */
  instructions: Instruction[];
};

/** The API's limit for a transaction. Base64 of the longest one of Solana. */
const LONGEST = 1644;
const SIGNATURE_BYTES = 64;
const ADDRESS_BYTES = 32;
const SIGNERS = 2;
/** Set in the first byte of a message that has a version. */
const VERSIONED = 0x80;

/** The smart wallets that the API knows: Squads and Swig. They make the transfers. */
export const SMART_WALLETS = [
  'SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf',
  'SMRTzfY6DfH5ik3TKiyLFfXexV8uSG3d2UksSCYdunG',
  'SWiGmQedKzMz1tiTqoJCWeGDnGXfNBp2PkXLkpCAtQo',
  'swigypWHEksbC64pWKwah1WTeh9JXwx8H1rJHLdbQMB',
].map(hexOfAddress);
const MEMO_PROGRAM = hexOfAddress('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
/** `TransferChecked`: its number, the amount and the decimals. */
const TRANSFER = { number: 12, length: 10 };

/** Takes parts off the front of bytes. Its functions throw RangeError at their end. */
const createReader = (bytes: Uint8Array<ArrayBuffer>) => {
  let at = 0;
  const take = (length: number): Uint8Array<ArrayBuffer> => {
    if (at + length > bytes.length) throw new RangeError('the bytes end early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const byte = (): number => take(1)[0]!;
  /** Seven bits in each byte, the lowest first. The highest bit says that another byte follows. */
  const count = (): number => {
    const low = byte();
    return low < 128 ? low : low - 128 + 128 * byte();
  };
  return {
    take,
    byte,
    count,
    list: <T>(read: () => T): T[] => Array.from({ length: count() }, read),
    rest: () => bytes.subarray(at),
  };
};

const readMessage = (message: Uint8Array<ArrayBuffer>): Pick<Transaction, 'signers' | 'instructions'> => {
  const { take, byte, count, list, rest } = createReader(message);
  const first = byte();
  const isVersioned = first >= VERSIONED;
  if (first > VERSIONED) throw new RangeError('the version is unknown');
  const signers = isVersioned ? byte() : first;
  take(2);
  const keys = list(() => hex(take(ADDRESS_BYTES)));
  take(ADDRESS_BYTES);
  const key = (): string => keys[byte()] ?? '';
  const instructions = list(() => ({ program: key(), accounts: list(key), data: take(count()) }));
  const readTable = () => {
    take(ADDRESS_BYTES);
    return list(byte).length + list(byte).length;
  };
  const loaded = isVersioned ? list(readTable) : [];
  if (rest().length > 0) throw new RangeError('more than a message');
  const inTables = loaded.length > 0;
  if (!inTables && instructions.some(({ accounts }) => accounts.includes('')))
    throw new RangeError('an account is missing');
  return { signers: keys.slice(0, signers), instructions };
};

/** The transaction in base64 of its wire bytes. Null: none. */
export const readTransaction = (text: string): Transaction | null => {
  if (text.length > LONGEST || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const wire = fromBase64(text);
  if (wire === null) return null;
  try {
    const { take, list, rest } = createReader(wire);
    const signatures = list(() => take(SIGNATURE_BYTES));
    const message = rest();
    return { signatures, message, ...readMessage(message) };
  } catch {
    return null;
  }
};

const isTransfer = ({ program, data }: Instruction): boolean =>
  program === TOKEN_PROGRAM && data[0] === TRANSFER.number && data.length === TRANSFER.length;
const amountIn = ({ buffer, byteOffset }: Uint8Array): bigint =>
  new DataView(buffer, byteOffset).getBigUint64(1, true);

/**
 * Whether a smart wallet makes the transfers, so that they are not in the bytes. The API simulates
 * them.
 */
export const isOfSmartWallet = ({ instructions }: Transaction): boolean =>
  !instructions.some(isTransfer) && instructions.some(({ program }) => SMART_WALLETS.includes(program));

/** Whether an account is another one. The API reads the lookup tables. */
const isOther = (found: string | undefined, expected: string): boolean => found !== '' && found !== expected;

const wrongTransfer = async (transaction: Transaction, { mint, legs }: Transfers): Promise<string | null> => {
  const { signers, instructions } = transaction;
  if (isOfSmartWallet(transaction)) return null;
  const found = instructions.filter(isTransfer);
  if (found.length !== legs.length) return 'no_transfer_instruction';
  for (const [index, { owner, amount }] of legs.entries()) {
    const { accounts, data } = found[index]!;
    const [, mintPaid, destination, authority] = accounts;
    if (isOther(mintPaid, hexOfAddress(mint))) return 'mint_mismatch';
    if (isOther(destination, await tokenAccountOf(owner, mint))) return 'recipient_mismatch';
    if (amountIn(data) !== BigInt(amount)) return 'amount_mismatch';
    if (authority !== signers[1]) return 'signature_invalid';
  }
  return null;
};

const wrongMemo = ({ instructions }: Transaction, memo: string): string | null => {
  const [found, ...more] = instructions.filter(({ program }) => program === MEMO_PROGRAM);
  if (found === undefined || more.length > 0) return 'memo_count';
  return hex(found.data) === hex(utf8(memo)) ? null : 'memo_mismatch';
};

/** Whether the key of an address has signed bytes. An address can also be no key. */
const isSignedBy = async (
  address: string,
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  try {
    const key = await crypto.subtle.importKey('raw', fromHex(address), 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', key, signature, bytes);
  } catch {
    return false;
  }
};

/**
 * Why a transaction does not make these transfers, as the API names it, or null.
 * @param memo null: any
 */
export const wrongIn = async (
  transaction: Transaction,
  transfers: Transfers,
  memo: string | null,
): Promise<string | null> => {
  const { signatures, message, signers } = transaction;
  if (signers.length !== SIGNERS || signatures.length !== SIGNERS) return 'excessive_signers';
  if (signers[0] !== hexOfAddress(transfers.feePayer)) return 'fee_payer_not_managed_by_facilitator';
  const wrong = await wrongTransfer(transaction, transfers);
  if (wrong !== null) return wrong;
  const other = memo === null ? null : wrongMemo(transaction, memo);
  if (other !== null) return other;
  return (await isSignedBy(signers[1]!, signatures[1]!, message)) ? null : 'signature_invalid';
};

import { promisify } from 'node:util';
import { CKR, Pkcs11Error } from './return-values.ts';

/**
 * The calls of a PKCS#11 module (OASIS PKCS#11 3.0, of which 2.40 has all but the Edwards curves)
 * that a signer needs. `koffi` calls the module's C functions on libuv's threads, so that a slow
 * token does not block the event loop. Handles and numbers are CK_ULONG.
 */
export type Cryptoki = {
  /** C_Initialize for several threads. A module that is initialised already is used as it is. */
  initialize: () => Promise<void>;
  finalize: () => Promise<void>;
  /** The slots that contain a token. */
  listSlots: () => Promise<bigint[]>;
  tokenInfo: (slot: bigint) => Promise<TokenInfo>;
  /** Whether the token signs with CKM_EDDSA. */
  signsEddsa: (slot: bigint) => Promise<boolean>;
  openSession: (slot: bigint) => Promise<bigint>;
  /** Logs the user in, for all sessions of the token. */
  login: (session: bigint, pin: Buffer) => Promise<void>;
  /** The objects that have all of these attributes, at most MAX_OBJECTS of them. */
  findObjects: (session: bigint, template: readonly Attribute[]) => Promise<bigint[]>;
  /** The value of an attribute; null when the object has none or does not reveal it. */
  readAttribute: (session: bigint, object: bigint, type: number) => Promise<Buffer | null>;
  /** The 64-byte CKM_EDDSA signature. */
  sign: (session: bigint, key: bigint, message: Uint8Array) => Promise<Buffer>;
};

export type TokenInfo = {
  token: string;
  manufacturer: string;
  model: string;
  serial: string;
  isInitialized: boolean;
  /** One more wrong PIN locks the token. */
  isFinalTry: boolean;
  isLocked: boolean;
};

export type Attribute = readonly [type: number, value: Uint8Array];

/** The attributes and values of objects that a signer reads. */
export const CKA = {
  CLASS: 0x0,
  LABEL: 0x3,
  KEY_TYPE: 0x100,
  ID: 0x102,
  SENSITIVE: 0x103,
  EXTRACTABLE: 0x162,
  NEVER_EXTRACTABLE: 0x164,
  EC_POINT: 0x181,
  ALWAYS_AUTHENTICATE: 0x202,
} as const;
export const CKO = { PUBLIC_KEY: 2, PRIVATE_KEY: 3 } as const;
export const CKK = { RSA: 0, EC: 3, EC_EDWARDS: 0x40 } as const;

const CKM_EDDSA = 0x1057;
const CKF_OS_LOCKING_OK = 2n;
const CKF_SERIAL_SESSION = 4;
const CKF_SIGN = 0x800n;
const CKF_TOKEN_INITIALIZED = 0x400n;
const CKF_USER_PIN_FINAL_TRY = 0x20000n;
const CKF_USER_PIN_LOCKED = 0x40000n;
const CKU_USER = 1;
const TOKEN_PRESENT = 1;
const MAX_OBJECTS = 64;
const MAX_VALUE_BYTES = 1024;
const SIGNATURE_BYTES = 64;

/** The size of CK_ULONG and of pointers on 64-bit Linux and macOS. */
const WORD = 8;
/** The position of each function in CK_FUNCTION_LIST, after its version. */
const FUNCTIONS = {
  C_Initialize: [0, 1],
  C_Finalize: [1, 1],
  C_GetSlotList: [4, 3],
  C_GetTokenInfo: [6, 2],
  C_GetMechanismInfo: [8, 3],
  C_OpenSession: [12, 5],
  C_Login: [18, 4],
  C_GetAttributeValue: [24, 4],
  C_FindObjectsInit: [26, 3],
  C_FindObjects: [27, 4],
  C_FindObjectsFinal: [28, 1],
  C_SignInit: [42, 3],
  C_Sign: [43, 5],
} as const;
type FunctionName = keyof typeof FUNCTIONS;
/** A number or handle, or a buffer whose address is passed. */
type Argument = number | bigint | Buffer | null;
type Call = (name: FunctionName, ...args: Argument[]) => Promise<void>;

/** A CK_ULONG or a sequence of them. */
export const ulongs = (...values: (number | bigint)[]): Buffer => {
  const bytes = Buffer.alloc(WORD * values.length);
  values.forEach((value, index) => {
    bytes.writeBigUInt64LE(BigInt(value), WORD * index);
  });
  return bytes;
};

/** koffi unloads a library whose object is collected, and its functions then crash the process. */
const libraries: unknown[] = [];

/**
 * Loads a module.
 * @throws Error with a message for the operator when koffi or the module cannot be loaded
 */
export const loadCryptoki = async (file: string): Promise<Cryptoki> => {
  if (!['x64', 'arm64'].includes(process.arch) || !['linux', 'darwin'].includes(process.platform))
    throw new Error('PKCS#11 is supported on 64-bit Linux and macOS only. Run the service there.');
  const { default: koffi } = await import('koffi').catch((cause: unknown) => {
    throw new Error(
      'The package koffi cannot be loaded on this platform. Install it, or configure keys in base58.',
      { cause },
    );
  });
  const functions = new Map<FunctionName, (...args: Argument[]) => Promise<number | bigint>>();
  try {
    // `deep`: the module uses its own OpenSSL, not the one that Node exports.
    const library = koffi.load(file, { deep: true });
    libraries.push(library);
    const list = Buffer.alloc(WORD);
    const returned = Number(library.func('C_GetFunctionList', 'ulong', ['void *'])(list));
    if (returned !== 0) throw new Pkcs11Error('C_GetFunctionList', returned);
    for (const [name, [position, count]] of Object.entries(FUNCTIONS) as [FunctionName, [number, number]][]) {
      const pointer = koffi.decode(list.readBigUInt64LE(), WORD * (1 + position), 'void *');
      const types = Array.from({ length: count }, () => 'intptr');
      functions.set(name, promisify(koffi.decode(pointer, koffi.proto('ulong', types)).async));
    }
  } catch (error) {
    throw new Error(
      `The PKCS#11 module ${file} cannot be loaded. Check its path, its dependencies (ldd) and that the user may read it.`,
      { cause: error },
    );
  }
  const addressOf = (value: Argument) => (Buffer.isBuffer(value) ? koffi.address(value) : (value ?? 0));
  const buffersInUse = new Set<readonly Argument[]>();
  return createCryptoki(async (name, ...args) => {
    // Memory whose address a thread of libuv has must not be collected.
    buffersInUse.add(args);
    try {
      const returned = Number(await functions.get(name)!(...args.map(addressOf)));
      if (returned !== 0) throw new Pkcs11Error(name, returned);
    } finally {
      buffersInUse.delete(args);
    }
  }, koffi.address);
};

type AddressOf = (value: Buffer) => bigint;

const createCryptoki = (call: Call, addressOf: AddressOf): Cryptoki => ({
  initialize: async () => {
    // CK_C_INITIALIZE_ARGS: four functions, the flags, a reserved pointer.
    await call('C_Initialize', ulongs(0, 0, 0, 0, CKF_OS_LOCKING_OK, 0)).catch(
      unless(CKR.CRYPTOKI_ALREADY_INITIALIZED),
    );
  },
  finalize: () => call('C_Finalize', null),
  listSlots: async () => {
    const count = ulongs(0);
    await call('C_GetSlotList', TOKEN_PRESENT, null, count);
    const slots = Buffer.alloc(WORD * Number(count.readBigUInt64LE()));
    if (slots.length === 0) return [];
    await call('C_GetSlotList', TOKEN_PRESENT, slots, count);
    return wordsOf(slots, count);
  },
  tokenInfo: async (slot) => {
    const info = Buffer.alloc(256);
    await call('C_GetTokenInfo', slot, info);
    return decodeTokenInfo(info);
  },
  signsEddsa: async (slot) => {
    const info = Buffer.alloc(3 * WORD);
    const isKnown = await call('C_GetMechanismInfo', slot, CKM_EDDSA, info).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Pkcs11Error) return false;
        throw error;
      },
    );
    return isKnown && (info.readBigUInt64LE(2 * WORD) & CKF_SIGN) !== 0n;
  },
  openSession: async (slot) => {
    const session = ulongs(0);
    await call('C_OpenSession', slot, CKF_SERIAL_SESSION, null, null, session);
    return session.readBigUInt64LE();
  },
  login: (session, pin) =>
    call('C_Login', session, CKU_USER, pin, pin.length).catch(unless(CKR.USER_ALREADY_LOGGED_IN)),
  ...objectCalls(call, addressOf),
  sign: async (session, key, message) => {
    await call('C_SignInit', session, ulongs(CKM_EDDSA, 0, 0), key);
    const signature = Buffer.alloc(SIGNATURE_BYTES);
    const length = ulongs(SIGNATURE_BYTES);
    await call('C_Sign', session, Buffer.from(message), message.length, signature, length);
    return signature.subarray(0, Number(length.readBigUInt64LE()));
  },
});

const objectCalls = (call: Call, addressOf: AddressOf): Pick<Cryptoki, 'findObjects' | 'readAttribute'> => ({
  findObjects: async (session, template) => {
    const attributes = attributeTable(template, addressOf);
    await call('C_FindObjectsInit', session, attributes, template.length);
    try {
      const [objects, count] = [Buffer.alloc(WORD * MAX_OBJECTS), ulongs(0)];
      await call('C_FindObjects', session, objects, MAX_OBJECTS, count);
      return wordsOf(objects, count);
    } finally {
      await call('C_FindObjectsFinal', session);
    }
  },
  readAttribute: async (session, object, type) => {
    const attribute = attributeTable([[type, new Uint8Array(MAX_VALUE_BYTES)]], addressOf);
    try {
      await call('C_GetAttributeValue', session, object, attribute, 1);
    } catch (error) {
      if (
        error instanceof Pkcs11Error &&
        (error.returned === CKR.ATTRIBUTE_SENSITIVE || error.returned === CKR.ATTRIBUTE_TYPE_INVALID)
      )
        return null;
      throw error;
    }
    return attribute.subarray(3 * WORD, 3 * WORD + Number(attribute.readBigUInt64LE(2 * WORD)));
  },
});

/** An array of CK_ATTRIBUTE, followed by the values to which it points. */
const attributeTable = (template: readonly Attribute[], addressOf: AddressOf): Buffer => {
  const head = 3 * WORD * template.length;
  const table = Buffer.alloc(head + template.reduce((sum, [, value]) => sum + value.length, 0));
  let at = head;
  template.forEach(([type, value], index) => {
    ulongs(type, addressOf(table) + BigInt(at), value.length).copy(table, 3 * WORD * index);
    table.set(value, at);
    at += value.length;
  });
  return table;
};

const wordsOf = (bytes: Buffer, count: Buffer): bigint[] =>
  Array.from({ length: Number(count.readBigUInt64LE()) }, (_, index) => bytes.readBigUInt64LE(WORD * index));

const unless =
  (accepted: number) =>
  (error: unknown): void => {
    if (!(error instanceof Pkcs11Error) || error.returned !== accepted) throw error;
  };

/** CK_TOKEN_INFO: texts are padded with blanks. */
const decodeTokenInfo = (info: Buffer): TokenInfo => {
  const text = (from: number, to: number) => info.toString('utf8', from, to).trimEnd();
  const flags = info.readBigUInt64LE(96);
  return {
    token: text(0, 32),
    manufacturer: text(32, 64),
    model: text(64, 80),
    serial: text(80, 96),
    isInitialized: (flags & CKF_TOKEN_INITIALIZED) !== 0n,
    isFinalTry: (flags & CKF_USER_PIN_FINAL_TRY) !== 0n,
    isLocked: (flags & CKF_USER_PIN_LOCKED) !== 0n,
  };
};

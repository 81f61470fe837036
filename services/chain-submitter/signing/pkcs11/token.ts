import { readFileSync } from 'node:fs';
import type { Cryptoki, TokenInfo } from './cryptoki.ts';
import type { KeyUri, TokenAttributes } from './key-uri.ts';
import type { Pkcs11Module } from './module.ts';
import { KeyRefused, PIN_REFUSED, Pkcs11Error } from './return-values.ts';

/** A session in which the user is logged in. */
export type TokenSession = {
  cryptoki: Cryptoki;
  session: bigint;
  slot: bigint;
  /** Handles of keys by the caller's name. They are valid until the token is opened again. */
  handles: Map<string, bigint>;
};

/** A token, in which several sessions of one login sign at the same time. */
export type Token = {
  withSession: <T>(work: (session: TokenSession) => Promise<T>) => Promise<T>;
};

type Opened = { slot: bigint; idle: bigint[]; handles: Map<string, bigint> };

const quoted = (values: readonly string[]): string =>
  values.length === 0 ? 'none' : values.map((value) => `"${value}"`).join(', ');

/** A text that names a token in messages. */
export const nameOf = (wanted: TokenAttributes): string =>
  Object.entries(wanted)
    .map(([name, value]) => `${name}=${value}`)
    .join(';');

/** @throws Error when not exactly one token matches */
const findSlot = async (
  cryptoki: Cryptoki,
  wanted: TokenAttributes,
): Promise<{ slot: bigint; info: TokenInfo }> => {
  const present: { slot: bigint; info: TokenInfo }[] = [];
  for (const slot of await cryptoki.listSlots()) {
    // The slot of a token that was just removed has no information.
    const info = await cryptoki.tokenInfo(slot).catch(() => null);
    if (info?.isInitialized) present.push({ slot, info });
  }
  const names = Object.keys(wanted) as (keyof TokenAttributes)[];
  const [found, ...others] = present.filter(({ info }) => names.every((name) => info[name] === wanted[name]));
  if (found === undefined)
    throw new Error(
      `No token is ${nameOf(wanted)}. The module has the tokens ${quoted(present.map(({ info }) => info.token))}. Correct the key's URI or connect the token.`,
    );
  if (others.length > 0)
    throw new Error(`${others.length + 1} tokens are ${nameOf(wanted)}. Add serial= to the key's URI.`);
  return found;
};

const readPin = (file: string): Buffer => {
  try {
    return Buffer.from(readFileSync(file, 'utf8').replace(/\r?\n$/, ''));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new KeyRefused(
      `The file of the PIN ${file} cannot be read (${code}). Mount it, readable by the service's user.`,
    );
  }
};

/**
 * Opens the first session and logs in. A refused PIN is not tried again until its file has changed,
 * and no PIN is tried when a wrong one would lock the token.
 */
const createLogin = (wanted: TokenAttributes, pinFile: string) => {
  const token = nameOf(wanted);
  let refused: Buffer | null = null;
  return async (cryptoki: Cryptoki, slot: bigint, info: TokenInfo): Promise<bigint> => {
    const pin = readPin(pinFile);
    if (info.isLocked)
      throw new KeyRefused(`The PIN of the token ${token} is locked. Unlock it as its security officer.`);
    if (info.isFinalTry)
      throw new KeyRefused(
        `One more wrong PIN locks the token ${token}, so none is tried. Correct ${pinFile} and log in once with the vendor's tool.`,
      );
    if (refused?.equals(pin))
      throw new KeyRefused(`The token ${token} refused the PIN. Correct the file ${pinFile}.`);
    const session = await cryptoki.openSession(slot);
    try {
      await cryptoki.login(session, pin);
      return session;
    } catch (error) {
      if (!(error instanceof Pkcs11Error) || !PIN_REFUSED.has(error.returned)) throw error;
      refused = pin;
      throw new KeyRefused(
        `The token ${token} refused the PIN (${error.message}). Correct the file ${pinFile}.`,
      );
    }
  };
};

/** The pause after a token that was opened again has failed without any success. */
const REOPEN_AFTER_MS = 1000;

/** Lets one attempt a second through while a token fails. */
const createPause = () => {
  let failure: { error: unknown; until: number } | null = null;
  let hasSucceeded = true;
  let epoch = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (failure !== null && performance.now() < failure.until) throw failure.error;
    const of = epoch;
    try {
      const value = await work();
      if (of === epoch) [hasSucceeded, failure] = [true, null];
      return value;
    } catch (error) {
      // Calls that ran at the same time fail for the same reason.
      if (of === epoch && !(error instanceof KeyRefused)) {
        epoch += 1;
        if (!hasSucceeded) failure = { error, until: performance.now() + REOPEN_AFTER_MS };
        hasSucceeded = false;
      }
      throw error;
    }
  };
};

export const createToken = (
  module: Pkcs11Module,
  { token: wanted, pinFile }: { token: KeyUri['token']; pinFile: string },
): Token => {
  const login = createLogin(wanted, pinFile);
  const unlessPaused = createPause();
  let connection: { generation: number; opened: Promise<Opened> } | null = null;

  const open = async (cryptoki: Cryptoki): Promise<Opened> => {
    const { slot, info } = await findSlot(cryptoki, wanted);
    return { slot, idle: [await login(cryptoki, slot, info)], handles: new Map() };
  };
  const connect = (cryptoki: Cryptoki, generation: number): Promise<Opened> => {
    if (connection?.generation === generation) return connection.opened;
    const opened = open(cryptoki);
    connection = { generation, opened };
    opened.catch(() => {
      if (connection?.opened === opened) connection = null;
    });
    return opened;
  };

  const withSession: Token['withSession'] = (work) =>
    module.use(async (cryptoki, generation) => {
      const { slot, idle, handles } = await connect(cryptoki, generation);
      const session = idle.pop() ?? (await cryptoki.openSession(slot));
      try {
        const result = await work({ cryptoki, session, slot, handles });
        idle.push(session);
        return result;
      } catch (error) {
        // After another error every session is closed with the module.
        if (error instanceof KeyRefused) idle.push(session);
        throw error;
      }
    });
  return { withSession: (work) => unlessPaused(() => withSession(work)) };
};

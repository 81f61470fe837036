import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  type Attribute,
  CKA,
  CKK,
  CKO,
  type Cryptoki,
  type TokenInfo,
  ulongs,
} from '../../../services/chain-submitter/signing/pkcs11/cryptoki.ts';
import { Pkcs11Error } from '../../../services/chain-submitter/signing/pkcs11/return-values.ts';
import { rawPublicKey, signBytes } from '../../../shared/lib/chain/ed25519.ts';

export const DEVICE_REMOVED = 50;
const SESSION_HANDLE_INVALID = 179;
const PIN_INCORRECT = 160;
const SLOT = 1n;
const KEY = 1n;
const PUBLIC_KEY = 2n;

/**
 * A module with one token, `vault`, with one key, `payer`, which a test can make fail. It loses its
 * sessions when it is finalised, as a module does.
 */
export const createCryptokiStandIn = (pin = 'pin-1') => {
  const { privateKey } = generateKeyPairSync('ed25519') as { privateKey: KeyObject };
  const point = Buffer.from(rawPublicKey(privateKey));
  const attributes = new Map<number, Uint8Array>([
    [CKA.KEY_TYPE, ulongs(CKK.EC_EDWARDS)],
    [CKA.SENSITIVE, Buffer.of(1)],
    [CKA.EXTRACTABLE, Buffer.of(0)],
    [CKA.NEVER_EXTRACTABLE, Buffer.of(1)],
    [CKA.ID, Buffer.of(7)],
  ]);
  const info: TokenInfo = {
    ...{ token: 'vault', manufacturer: 'stand-in', model: 'one', serial: '1' },
    ...{ isInitialized: true, isFinalTry: false, isLocked: false },
  };
  let sessions = new Set<bigint>();
  let last = 0n;
  const state = {
    info,
    attributes,
    publicPoint: point as Buffer | null,
    pin,
    /** Return values of the next signatures, in their order. */
    failures: [] as number[],
    isPresent: true,
    /** Replaces the signature. */
    sign: async (message: Uint8Array): Promise<Uint8Array> => signBytes(message, privateKey),
    calls: { initialize: 0, finalize: 0, login: 0, sign: 0 },
    running: 0,
    maxRunning: 0,
    privateKey,
    /** As a token that was restarted: every session is gone. */
    forgetSessions: () => {
      sessions = new Set();
    },
  };

  const cryptoki: Cryptoki = {
    initialize: async () => {
      state.calls.initialize += 1;
    },
    finalize: async () => {
      if (state.running > 0) throw new Error('C_Finalize was called while another call ran');
      state.calls.finalize += 1;
      sessions = new Set();
    },
    listSlots: async () => (state.isPresent ? [SLOT] : []),
    tokenInfo: async () => state.info,
    signsEddsa: async () => true,
    openSession: async () => {
      last += 1n;
      sessions.add(last);
      return last;
    },
    login: async (_session, given) => {
      state.calls.login += 1;
      if (given.toString() !== state.pin) throw new Pkcs11Error('C_Login', PIN_INCORRECT);
    },
    findObjects: async (_session, template: readonly Attribute[]) => {
      const attributeOf = (type: number) => template.find(([each]) => each === type)?.[1];
      const isPublic = Buffer.from(attributeOf(CKA.CLASS)!).equals(ulongs(CKO.PUBLIC_KEY));
      if (isPublic) return state.publicPoint === null ? [] : [PUBLIC_KEY];
      return Buffer.from(attributeOf(CKA.LABEL) ?? []).toString() === 'payer' ? [KEY] : [];
    },
    readAttribute: async (_session, object, type) => {
      if (type === CKA.EC_POINT) return object === PUBLIC_KEY ? state.publicPoint : null;
      const value = state.attributes.get(type);
      return value === undefined ? null : Buffer.from(value);
    },
    sign: async (session, _key, message) => {
      state.calls.sign += 1;
      if (!state.isPresent) throw new Pkcs11Error('C_SignInit', DEVICE_REMOVED);
      if (!sessions.has(session)) throw new Pkcs11Error('C_SignInit', SESSION_HANDLE_INVALID);
      const failure = state.failures.shift();
      if (failure !== undefined) throw new Pkcs11Error('C_Sign', failure);
      state.running += 1;
      state.maxRunning = Math.max(state.maxRunning, state.running);
      try {
        return Buffer.from(await state.sign(message));
      } finally {
        state.running -= 1;
      }
    },
  };
  return { cryptoki, state };
};

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/**
 * A passkey authenticator in software: ES256, no attestation. Every part of its answer can be made
 * wrong. The tests in test/browser/ use real browsers; this one gives answers that no browser
 * gives.
 */
export type Says = {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  crossOrigin?: boolean;
  userVerified?: boolean;
  userPresent?: boolean;
  counter?: number;
  userHandle?: string | null;
  /**
   * The attestation: its format, and `self` for a signature by the new key, or bytes as its
   * certificates.
   */
  attestation?: { fmt: string; statement?: 'self' | 'certificates' };
  /** Signs with another key than the registered one. */
  key?: KeyObject;
};

const ORIGIN = 'http://localhost:4000';
const b64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();

/** CBOR of the types that are needed: small integers, byte strings, text, maps. */
const cbor = (value: unknown): Buffer => {
  const head = (major: number, n: number) =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([k, v]) => [cbor(k), cbor(v)])]);
  }
  const bytes = value as Uint8Array;
  return Buffer.concat([head(2, bytes.length), bytes]);
};

export type Options = { challenge: string; user?: { id: string } };

/** One authenticator with one credential. */
export const createAuthenticator = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const coseKey = cbor(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x!, 'base64url')],
      [-3, Buffer.from(y!, 'base64url')],
    ]),
  );
  const credentialId = randomBytes(32);
  let counter = 0;
  let handle: string | null = null;

  const clientData = (type: string, { challenge }: Options, says: Says) =>
    Buffer.from(
      JSON.stringify({
        type: says.type ?? type,
        challenge: says.challenge ?? challenge,
        origin: says.origin ?? ORIGIN,
        crossOrigin: says.crossOrigin ?? false,
      }),
    );
  const authData = (flags: number, says: Says) => {
    const bits = flags | (says.userPresent === false ? 0 : 1) | (says.userVerified === false ? 0 : 4);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(says.counter ?? counter);
    return Buffer.concat([sha256(says.rpId ?? 'localhost'), Buffer.from([bits]), count]);
  };
  const common = {
    id: b64(credentialId),
    rawId: b64(credentialId),
    type: 'public-key' as const,
    clientExtensionResults: {},
    authenticatorAttachment: 'platform' as const,
  };

  return {
    credentialId: common.id,
    /** The result of navigator.credentials.create. */
    create: (options: Options, says: Says = {}) => {
      handle = options.user?.id ?? null;
      const length = Buffer.from([0, credentialId.length]);
      const data = Buffer.concat([authData(0x40, says), Buffer.alloc(16), length, credentialId, coseKey]);
      const client = clientData('webauthn.create', options, says);
      const { fmt, statement } = says.attestation ?? { fmt: 'none' };
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      const attStmt = new Map<string, unknown>(
        statement === undefined
          ? []
          : [
              ['alg', -7],
              ['sig', signature],
            ],
      );
      if (statement === 'certificates') attStmt.set('x5c', Buffer.alloc(32));
      const attestation = new Map<string, unknown>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', data],
      ]);
      return {
        ...common,
        response: {
          clientDataJSON: b64(client),
          attestationObject: b64(cbor(attestation)),
          transports: ['internal'],
        },
      };
    },
    /** The result of navigator.credentials.get. The counter increases by one by default. */
    get: (options: Options, says: Says = {}) => {
      counter = says.counter ?? counter + 1;
      const client = clientData('webauthn.get', options, says);
      const data = authData(0, says);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), says.key ?? privateKey);
      const userHandle = says.userHandle === undefined ? handle : says.userHandle;
      return {
        ...common,
        response: {
          clientDataJSON: b64(client),
          authenticatorData: b64(data),
          signature: b64(signature),
          userHandle,
        },
      };
    },
  };
};

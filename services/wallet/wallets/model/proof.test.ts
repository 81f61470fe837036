import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { encodeBase58 } from '../../../../shared/lib/chain/base58.ts';
import { rawPublicKey, signBytes } from '../../../../shared/lib/chain/ed25519.ts';
import { proofProblem } from './proof.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const ACCOUNT = 'acct_01jd8z4x7kf6wr2m5n9qbtve3c';
const { privateKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519').privateKey;
const KEY = encodeBase58(rawPublicKey(privateKey));

const at = (offsetMs: number) => new Date(NOW + offsetMs).toISOString();
const text = ({ account = ACCOUNT, wallet = KEY, issuedAt = at(0) } = {}) =>
  `Quittance wallet proof\naccount: ${account}\nwallet: ${wallet}\nissued_at: ${issuedAt}`;
const sign = (message: string, key = privateKey) =>
  encodeBase58(signBytes(Buffer.from(message, 'utf8'), key));

const good = text();
const signature = sign(good);
const flipped = `${signature.slice(0, -1)}${signature.endsWith('2') ? '3' : '2'}`;

const lines = 'proof.message: must be exactly';
const notSigned = 'proof.signature: is not a signature';

test.each([
  ['good', good, undefined, 'ok'],
  ['without milliseconds', text({ issuedAt: '2026-11-21T10:00:00Z' }), undefined, 'ok'],
  ['exactly 5 minutes old', text({ issuedAt: at(-300_000) }), undefined, 'ok'],
  ['a clock 5 minutes ahead', text({ issuedAt: at(300_000) }), undefined, 'ok'],
  ['too old', text({ issuedAt: at(-300_001) }), undefined, 'proof.message: issued_at is more than'],
  [
    'too far ahead',
    text({ issuedAt: at(300_001) }),
    undefined,
    `proof.message: issued_at is more than 5 minutes ahead; the server's time is ${at(0)}`,
  ],
  ['no such time', text({ issuedAt: '2026-13-21T10:00:00Z' }), undefined, 'proof.message: issued_at is not'],
  ['UTC as an offset', text({ issuedAt: '2026-11-21T10:00:00+00:00' }), undefined, 'ok'],
  ['with nanoseconds', text({ issuedAt: '2026-11-21T10:00:00.123456789Z' }), undefined, 'ok'],
  [
    'another zone',
    text({ issuedAt: '2026-11-21T10:00:00+02:00' }),
    undefined,
    'proof.message: issued_at is not a time in UTC',
  ],
  ['a time as a number', text({ issuedAt: String(NOW) }), undefined, lines],
  [
    'other account',
    text({ account: `${ACCOUNT.slice(0, -1)}d` }),
    undefined,
    'proof.message: names another account',
  ],
  [
    'account with a space',
    text({ account: `${ACCOUNT} ` }),
    undefined,
    'proof.message: names another account',
  ],
  [
    'other wallet',
    text({ wallet: encodeBase58(rawPublicKey(other)) }),
    undefined,
    'proof.message: names another wallet',
  ],
  ['extra line', `${good}\nextra: 1`, undefined, lines],
  ['trailing line feed', `${good}\n`, undefined, lines],
  ['leading line feed', `\n${good}`, undefined, lines],
  ['line missing', good.split('\n').slice(0, 3).join('\n'), undefined, lines],
  ['lines in another order', good.split('\n').toReversed().join('\n'), undefined, lines],
  ['CRLF', good.replaceAll('\n', '\r\n'), undefined, lines],
  ['other title', good.replace('Quittance', 'quittance'), undefined, lines],
  ['byte order mark', `\uFEFF${good}`, undefined, lines],
  ['empty', '', undefined, lines],
  ['signed by another key', good, sign(good, other), notSigned],
  ['signature of another message', good, sign(text({ issuedAt: at(-1) })), notSigned],
  ['one character of the signature changed', good, flipped, notSigned],
  ['signature of 63 bytes', good, encodeBase58(new Uint8Array(63).fill(9)), notSigned],
  ['signature not in base58', good, '0'.repeat(64), notSigned],
])('a proof is checked: %s', (_name, message, given, expected) => {
  const proof = { message, signature: given ?? sign(message) };
  const problem = proofProblem(proof, { accountId: ACCOUNT, publicKey: KEY, now: NOW });
  const outcome = problem === null ? 'ok' : `${problem.path}: ${problem.message}`;
  expect(outcome.slice(0, expected.length)).toBe(expected);
});

const lib = await import('@solana/kit');
const head0 = (signer: string) => ({
  version: 0 as const,
  applicationDomain: lib.offchainMessageApplicationDomain('1'.repeat(32)),
  requiredSignatories: [{ address: lib.address(signer) }],
});
const version0 = (message: string, signer = KEY) =>
  lib
    .getOffchainMessageV0Encoder()
    .encode({ ...head0(signer), content: lib.offchainMessageContentUtf8Of1232BytesMax(message) });
const longVersion0 = (message: string) =>
  lib
    .getOffchainMessageV0Encoder()
    .encode({ ...head0(KEY), content: lib.offchainMessageContentUtf8Of65535BytesMax(message) });
const version1 = (message: string, signer = KEY) =>
  lib.getOffchainMessageV1Encoder().encode({
    version: 1,
    requiredSignatories: [{ address: lib.address(signer) }],
    content: message,
  });
/** The first form of version 0, as the Solana SDK for Rust and older apps of Ledger have it. */
const firstForm = (message: string) =>
  Buffer.concat([
    Buffer.from('\xffsolana offchain', 'latin1'),
    Buffer.of(0, 1, message.length & 255, message.length >> 8),
    Buffer.from(message),
  ]);
const OTHER = encodeBase58(rawPublicKey(other));

test.each([
  ['version 0 for a Ledger', version0(good), null],
  ['version 0 of any length', longVersion0(good), null],
  ['version 1', version1(good), null],
  ['the first form of version 0', firstForm(good), null],
  ['version 0 around another text', version0(text({ issuedAt: at(-1) })), notSigned],
  ['version 1 around another text', version1(text({ issuedAt: at(-1) })), notSigned],
  ['version 0 for another signer', version0(good, OTHER), notSigned],
  ['version 1 for another signer', version1(good, OTHER), notSigned],
])('the signature of a hardware wallet covers an envelope: %s', (_name, envelope, expected) => {
  const proof = { message: good, signature: encodeBase58(signBytes(new Uint8Array(envelope), privateKey)) };
  const problem = proofProblem(proof, { accountId: ACCOUNT, publicKey: KEY, now: NOW });
  const outcome = problem === null ? null : `${problem.path}: ${problem.message}`;
  expect(outcome?.slice(0, notSigned.length) ?? null).toBe(expected);
});

test('a public key of 31 bytes is refused', () => {
  const publicKey = encodeBase58(new Uint8Array(31).fill(7));
  const problem = proofProblem({ message: good, signature }, { accountId: ACCOUNT, publicKey, now: NOW });
  expect(problem?.path).toBe('public_key');
});

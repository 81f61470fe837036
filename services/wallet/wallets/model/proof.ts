import { parseUtcTime } from '../../../../shared/contract/utc-time.ts';
import { decodeBase58 } from '../../../../shared/lib/chain/base58.ts';
import { publicKeyFromRaw, verifyBytes } from '../../../../shared/lib/chain/ed25519.ts';
import { offChainEnvelopes } from './off-chain-message.ts';

/**
 * docs/spec/decisions.md, Wallets: the proof is exactly these four lines, which name the account,
 * the key and the time.
 */
const PROOF = /^Quittance wallet proof\naccount: ([^\n]+)\nwallet: ([^\n]+)\nissued_at: (\d{4}-[^\n]+)$/;

/** How old a proof may be, and how far a client's clock may run ahead. */
const TOLERANCE_MS = 5 * 60_000;

export type Proof = { message: string; signature: string };
type ProofProblem = { path: string; message: string };

const ofMessage = (message: string): ProofProblem => ({ path: 'proof.message', message });

/** Whether the key has signed the message, as it is or in the envelope of a hardware wallet. */
const isSigned = (message: string, signature: Uint8Array | null, rawKey: Uint8Array): boolean => {
  if (signature === null) return false;
  const [text, key] = [Buffer.from(message, 'utf8'), publicKeyFromRaw(rawKey)];
  return [text, ...offChainEnvelopes(text, rawKey)].some((bytes) => verifyBytes(bytes, signature, key));
};

/**
 * Why a proof does not show that the account holds the wallet's key now, or null when it does.
 * @param now epoch milliseconds of the database's clock
 */
export const proofProblem = (
  { message, signature }: Proof,
  { accountId, publicKey, now }: { accountId: string; publicKey: string; now: number },
): ProofProblem | null => {
  const rawKey = decodeBase58(publicKey, 32);
  if (rawKey === null) return { path: 'public_key', message: 'must be base58 of 32 bytes' };
  const lines = PROOF.exec(message);
  if (lines === null) {
    return ofMessage(
      'must be exactly the four lines "Quittance wallet proof", "account: …", "wallet: …", "issued_at: …", separated by line feeds',
    );
  }
  const [, account, wallet, issuedAtText] = lines;
  if (account !== accountId) return ofMessage('names another account than the caller’s');
  if (wallet !== publicKey) return ofMessage('names another wallet than public_key');
  const issuedAt = parseUtcTime(issuedAtText!);
  if (Number.isNaN(issuedAt))
    return ofMessage('issued_at is not a time in UTC, such as 2026-11-21T10:00:00.000Z');
  const serverTime = `the server's time is ${new Date(now).toISOString()}`;
  if (now - issuedAt > TOLERANCE_MS) return ofMessage(`issued_at is more than 5 minutes ago; ${serverTime}`);
  if (issuedAt - now > TOLERANCE_MS)
    return ofMessage(`issued_at is more than 5 minutes ahead; ${serverTime}`);
  return isSigned(message, decodeBase58(signature, 64), rawKey)
    ? null
    : {
        path: 'proof.signature',
        message:
          'is not a signature of the message by public_key, neither of its bytes nor of its off-chain envelope (version 0 or 1)',
      };
};

import type { Progress } from '../../../../shared/contract/chain-submitter.ts';
import { type ChainError, tokenErrorCode } from './chain-error.ts';
import type { Order } from './order.ts';
import type { TokenAccount } from './token-account.ts';

export type Failure = NonNullable<Progress['failure']>;

/**
 * The kind of a chain error. `proven`: the chain refuses the payment itself. `ours`: a node or the
 * fee payer is the cause, so the intent is tried again later. `stale`: a new blockhash is enough.
 * @param creation index of the instruction that creates a token account; null without one
 */
export const errorKind = (error: ChainError, creation: number | null): 'stale' | 'ours' | 'proven' => {
  if (error === 'BlockhashNotFound') return 'stale';
  // A fee payer without lamports does not exist. The operator has to fund it, and the payer is not
  // at fault.
  if (typeof error === 'string') return 'ours';
  if ('InsufficientFundsForRent' in error) return 'ours';
  if (!('InstructionError' in error)) return 'ours';
  const [index, reason] = error.InstructionError as [number, string | { Custom: number }];
  // 0x1 of the system program in the creation: the fee payer cannot pay the rent.
  if (index === creation && typeof reason === 'object' && reason.Custom === 1) return 'ours';
  return 'proven';
};

const failed = (code: Failure['code'], message: string): Failure => ({ code, message });

/**
 * The failure of a settle that the token program refused (rule 15). 0x1 is a balance or allowance
 * that is too small, 0x4 a delegate that is revoked, replaced or used up. The payer's account
 * decides between the causes.
 * @param source the payer's token account, read after the refusal
 */
export const settleFailure = (
  error: ChainError,
  source: TokenAccount,
  { grossMicro, authority }: { grossMicro: bigint; authority: string },
): Failure => {
  const code = tokenErrorCode(error);
  if (source.state === 'missing')
    return failed('insufficient_funds', 'the wallet holds no USDC: it has no token account');
  if (source.state === 'foreign')
    return failed('delegation_inactive', 'the wallet’s token account belongs to another owner');
  if (source.frozen) return failed('payment_failed', 'the wallet’s token account is frozen');
  if (source.balanceMicro < grossMicro)
    return failed('insufficient_funds', 'the wallet’s balance is too small');
  if (source.delegate === null)
    return failed('delegation_inactive', 'the wallet’s spending limit is revoked or used up');
  if (source.delegate !== authority)
    return failed('delegation_inactive', 'the wallet has given its spending limit to another delegate');
  if (source.allowanceMicro < grossMicro)
    return failed('delegation_inactive', 'the wallet’s spending limit is too small');
  // The account could pay again by now, so only the code shows the cause.
  if (code === 1) return failed('insufficient_funds', 'the wallet’s balance or spending limit was too small');
  if (code === 4) return failed('delegation_inactive', 'the wallet’s spending limit was not active');
  return failed('payment_failed', 'the chain refused the payment');
};

/** The failure of any other order. Only a transfer can lack money. */
export const otherFailure = (kind: Order['kind'], error: ChainError): Failure => {
  const transfers = ['withdrawal', 'refund', 'incoming', 'outgoing'].includes(kind);
  if (transfers && tokenErrorCode(error) === 1)
    return failed('insufficient_funds', 'the balance of the wallet that signs is too small');
  const own = kind === 'fund' || kind === 'createTokenAccount';
  return failed(
    'payment_failed',
    own ? 'the chain refused the platform’s transaction' : 'the chain refused the transaction',
  );
};

/**
 * The authority that the payer's wallet approved has been retired, so nothing can be signed with
 * it.
 */
export const RETIRED = failed('delegation_inactive', 'the delegate authority was retired; approve again');

/** The chain refused the transaction because of the platform, not because of the payer. */
export const PLATFORM_FAULT = failed('payment_failed', 'the platform could not pay for the transaction');
export const TOO_LATE = failed('payment_failed', 'the payment was not signed in time; no money moved');
export const EXPIRED = failed(
  'payment_failed',
  'the transaction expired before it was included; prepare it again',
);
export const EXPIRED_INCOMING = failed(
  'payment_failed',
  'the transaction expired before it was included; no money moved',
);
export const EXPIRED_OUTGOING = failed(
  'payment_failed',
  'the vendor did not submit the transaction before it expired; no money moved',
);
export const CLOSED = failed('payment_failed', 'the payment was ended before it was signed; no money moved');

import type { Progress } from '../../../../shared/contract/chain-submitter.ts';
import type { TokenAccount } from '../../chain/model/token-account.ts';
import type { Order } from './order.ts';

export type Failure = NonNullable<Progress['failure']>;

/** `err` of a simulated or landed transaction, as JSON-RPC gives it. */
export type ChainError = string | { InstructionError: [number, string | { Custom: number }] } | object;

/**
 * Errors that say nothing about the payment: the moment, the node or our own purse is wrong, so the
 * intent waits and is tried again. `stale`: a fresh blockhash is enough.
 * @param creation index of the instruction that creates a token account, null without one
 */
export const errorKind = (error: ChainError, creation: number | null): 'stale' | 'ours' | 'proven' => {
  if (error === 'BlockhashNotFound') return 'stale';
  // Without lamports the fee payer does not exist; that is an operator's matter, not the payer's.
  if (typeof error === 'string') return 'ours';
  if ('InsufficientFundsForRent' in error) return 'ours';
  if (!('InstructionError' in error)) return 'ours';
  const [index, what] = error.InstructionError as [number, string | { Custom: number }];
  // The system program's 0x1 inside the creation: the fee payer cannot pay the rent.
  if (index === creation && typeof what === 'object' && what.Custom === 1) return 'ours';
  return 'proven';
};

/** Custom code of the token program, null when it is another error. */
export const tokenErrorCode = (error: ChainError): number | null => {
  if (typeof error === 'string' || !('InstructionError' in error)) return null;
  const [, what] = error.InstructionError as [number, string | { Custom: number }];
  return typeof what === 'object' ? what.Custom : null;
};

const failed = (code: Failure['code'], message: string): Failure => ({ code, message });

/**
 * What became of a settle that the token program refused (rule 15): 0x1 is a balance or allowance too small, 0x4 a
 * delegate revoked, overwritten or used up; the payer's account tells them apart.
 * @param source the payer's token account as it was read after the refusal
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
    return failed('delegation_inactive', 'the token account is no longer the wallet’s');
  if (source.frozen) return failed('payment_failed', 'the wallet’s token account is frozen');
  if (source.balanceMicro < grossMicro)
    return failed('insufficient_funds', 'the wallet’s balance is too small');
  if (source.delegate === null)
    return failed('delegation_inactive', 'the wallet’s allowance is revoked or used up');
  if (source.delegate !== authority)
    return failed('delegation_inactive', 'the wallet has given its allowance to another delegate');
  if (source.allowanceMicro < grossMicro)
    return failed('delegation_inactive', 'the wallet’s allowance is too small');
  // The account is good again since: only the code is left to tell.
  if (code === 1) return failed('insufficient_funds', 'the wallet’s balance or allowance was too small');
  if (code === 4) return failed('delegation_inactive', 'the wallet’s allowance was not active');
  return failed('payment_failed', 'the chain refused the payment');
};

/** The same for everything that is not a settle. Only a transfer of the owner's can be short of money. */
export const otherFailure = (kind: Order['kind'], error: ChainError): Failure => {
  const transfers = kind === 'withdrawal' || kind === 'refund';
  if (transfers && tokenErrorCode(error) === 1)
    return failed('insufficient_funds', 'the balance of the wallet that signs is too small');
  const own = kind === 'fund' || kind === 'createTokenAccount';
  return failed('payment_failed', own ? 'the chain refused the work' : 'the chain refused the transaction');
};

/** The authority that the payer's wallet named cannot be signed with any more. */
export const RETIRED = failed('delegation_inactive', 'the delegate authority was retired; approve again');

/** The chain refused it for a reason that is none of its payer's. */
export const NOT_THE_PAYERS = failed('payment_failed', 'the platform could not pay for the transaction');
export const TOO_LATE = failed('payment_failed', 'the payment was not signed in time; no money moved');
export const EXPIRED = failed('payment_failed', 'the transaction expired without landing; prepare it again');

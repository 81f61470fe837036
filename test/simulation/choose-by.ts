import { COUNTED_CAPS } from '../../shared/contract/limits.ts';
import { actors } from './actors.ts';
import { type Attempt, OTHER_DELEGATE, type Quote } from './clients.ts';
import type { Harness } from './harness.ts';
import { type Delegate, NO_CAPS } from './settlement-rows.ts';

/** Numbers of the delegates that several payments share, one for each payer. */
export const SHARED_DELEGATE = 80;

/** Adds limits of a delegate, or of an account under its own id, unless they exist. */
export const addLimits = (
  delegates: Map<string, Delegate>,
  ids: Pick<Delegate, 'delegate_id' | 'account_id'>,
  caps: Partial<Delegate>,
): void => {
  const none = { ...NO_CAPS, approval_above: null };
  if (!delegates.has(ids.delegate_id))
    delegates.set(ids.delegate_id, { ...none, ...ids, held: 0n, spent: 0n, ...caps });
};

/** The delegate of this number, which is added with these limits if it does not exist. */
export const addDelegate = (
  delegates: Map<string, Delegate>,
  { number, payer }: { number: number; payer: number },
  caps: Partial<Delegate>,
): string => {
  const delegate_id = actors.delegateId(number);
  addLimits(delegates, { delegate_id, account_id: actors.payers[payer]!.account_id }, caps);
  return delegate_id;
};

/**
 * The payer: the account itself, a delegate whose limit suffices for this payment once, or one that
 * several payments share.
 */
export const chooseBy = (
  harness: Harness,
  { payer, grossMicro }: Quote,
  {
    delegates,
    number,
    isFirst,
    approvalAbove,
  }: {
    delegates: Map<string, Delegate>;
    number: number;
    isFirst: boolean;
    approvalAbove: () => bigint | null;
  },
): Pick<Attempt, 'delegateId' | 'causedByItself'> => {
  const { random } = harness;
  const add = (delegateNumber: number, caps: Partial<Delegate>) =>
    addDelegate(delegates, { number: delegateNumber, payer }, { approval_above: approvalAbove(), ...caps });
  add(OTHER_DELEGATE + payer, {});
  const kind = random.next();
  if (kind < 0.45) return { delegateId: null, causedByItself: [] };
  if (kind < 0.75 && isFirst) {
    const cap = random.pick(COUNTED_CAPS);
    const delegateId = add(number, { [cap]: grossMicro });
    return { delegateId, causedByItself: ['limit_exceeded'] };
  }
  const delegateId = add(SHARED_DELEGATE + payer, { total: BigInt(random.int(3, 9)) * 1_000_000n });
  return { delegateId, causedByItself: [] };
};

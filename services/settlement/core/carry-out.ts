import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Rail } from './rail.ts';

const LOST_RETRY_SECONDS = 30;

/** The error of a payment whose record a restore may have lost, and which the chain may have. */
export const mayBePaid = (rail: Pick<Rail<never, never>, 'mayBePaid'>, settlementId?: string): ServiceError =>
  new ServiceError('service_unavailable', rail.mayBePaid, {
    money_moved: 'unknown',
    safe_action: 'retry_same_attempt',
    retryAfterSeconds: LOST_RETRY_SECONDS,
    ...(settlementId !== undefined && { settlement_id: settlementId }),
  });

/** Why a payment is refused as a new one, in the words of its rail. */
export type NotAccepted<Refusal> = { refused: Refusal };

/** Runs work whose errors for the caller are refusals. */
export const orRefused = async <T>(work: () => Promise<T>): Promise<T | NotAccepted<ServiceError>> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { refused: error };
  }
};

/**
 * A payment that a call presents, and what its rail does with it.
 * @typeParam Records what is known of the payment; `known`: the settlement that answers it
 */
export type PaymentCall<Answer, Refusal, Records extends { known: unknown }> = {
  /** Accepts it as if it were new, and answers it. */
  acceptNew: () => Promise<Answer | NotAccepted<Refusal>>;
  /** Reads its records, on a snapshot that is newer than every acceptance that may run now. */
  readRecords: (refusal: Refusal) => Promise<Records>;
  /** Answers a repeat, by the record alone. */
  repeat: (known: NonNullable<Records['known']>) => Promise<Answer>;
  /**
   * What the chain has of a payment without a record, if a restore may have lost it. `none`: it was
   * not paid, or nothing is lost. An answer: it was paid, and has a record again.
   */
  findLost: (refusal: Refusal, records: Records) => Promise<'none' | 'may be paid' | { answer: Answer }>;
  /** Refuses a payment that was not made. `money_moved` comes from the records. */
  refuse: (refusal: Refusal, records: Records) => Promise<Answer>;
};

/**
 * Carries out a payment of any rail once (docs/design/settle.md, rule 3). A refusal is one only
 * after the records were read once more: a concurrent call may have accepted the payment, and the
 * refusal may be the effect of that. Without a record it is one only if no restore can have lost
 * it, or the chain proves that it was not made (docs/adr/0034).
 */
export const carryOut = async <Answer extends object, Refusal, Records extends { known: unknown }>(
  rail: Pick<Rail<never, never>, 'mayBePaid'>,
  { acceptNew, readRecords, repeat, findLost, refuse }: PaymentCall<Answer, Refusal, Records>,
): Promise<Answer> => {
  const outcome = await acceptNew();
  if (!('refused' in outcome)) return outcome;
  const { refused } = outcome;
  const records = await readRecords(refused);
  const { known } = records;
  if (known !== null && known !== undefined) return repeat(known);
  const lost = await findLost(refused, records);
  if (lost === 'may be paid') throw mayBePaid(rail);
  return lost === 'none' ? refuse(refused, records) : lost.answer;
};

import { z } from 'zod';
import { extended } from './extended.ts';

/**
 * How a repeat of a call that creates something is recognized (docs/adr/0017-idempotency-keys.md).
 */

/**
 * The request's header, and the header of an answer that is a stored one. Lower case, as Node
 * passes them.
 */
export const IDEMPOTENCY_KEY = 'idempotency-key';
export const IDEMPOTENT_REPLAYED = 'idempotent-replayed';

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .meta({
    id: 'IdempotencyKey',
    description:
      'Chosen by the client, a new one for each object to create (for example a UUID). A repeat with the same key ' +
      'and the same request within 24 hours creates nothing. It gets the first answer, with the header ' +
      '`idempotent-replayed: true`. Another request with the same key is refused. Keys are separate per account ' +
      'and operation.',
    examples: ['0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17'],
  });

/** `true`, or the field of the answer that is shown once and never stored. */
export type Idempotency = true | { secret: string };

/** A call with a key. The handler records it in the transaction that creates the object. */
export type CallKey = {
  accountId: string;
  operation: string;
  /**
   * SHA-256 of the key. The key itself is not stored, because a client may put anything into it.
   */
  keyHash: Uint8Array;
  /** SHA-256 of the validated input and of the credential's scope. */
  fingerprint: Uint8Array;
  /** The answer as it is stored: JSON of the contract's shape, without the secret. */
  answerText: (answer: object) => string;
  /**
   * The object of an earlier call with this key that began and did not complete. It is never
   * created a second time.
   */
  begun: string | null;
};

const alreadyShown = {
  secret_already_shown: z.literal(true).meta({
    description: 'A repeat by Idempotency-Key. The secret was in the first answer and is not stored',
  }),
};

/**
 * The answer of a call that returns a secret: the first answer contains it, and a repeat only
 * states that it was shown.
 * @param base the object without its secret. It has an id
 * @param id of the first answer in the API's document. That of a repeat is derived from it
 */
export const shownOnce = <Shape extends z.ZodRawShape, Secret extends z.ZodRawShape>(
  base: z.ZodObject<Shape>,
  secret: Secret,
  id: string,
) => z.union([extended(base, secret, { id }), extended(base, alreadyShown, { id: `${id}Replayed` })]);

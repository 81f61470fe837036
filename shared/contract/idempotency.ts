import { z } from 'zod';

/**
 * How a call that creates something is told from its own repeat
 * (docs/adr/0017-idempotency-keys.md).
 */

/**
 * The request's header, and the one of an answer that an earlier call has been given. Lower case,
 * as Node has them.
 */
export const IDEMPOTENCY_KEY = 'idempotency-key';
export const IDEMPOTENT_REPLAYED = 'idempotent-replayed';

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .meta({
    id: 'IdempotencyKey',
    description:
      'Chosen by the client, a new one for each thing to create (a UUID does). A repeat with the same key and the same ' +
      'request within 24 hours creates nothing: it gets the first answer, with the header `idempotent-replayed: true`. ' +
      'Another request under the key is refused. Keys are counted per account and operation.',
    examples: ['0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17'],
  });

/**
 * Which operations take a key; with the field of the answer that is shown once and never stored.
 */
export type Idempotency = true | { secret: string };

/** A call with a key, as the handler gets it and records it in the commit that creates. */
export type CallKey = {
  accountId: string;
  operation: string;
  /** SHA-256: whatever a client puts into a key, it is not stored. */
  keyHash: Uint8Array;
  /** SHA-256 of the checked input and of the credential's scope. */
  fingerprint: Uint8Array;
  /** The answer as it is stored: JSON of the contract's shape, without what is shown once. */
  answerText: (answer: object) => string;
  /**
   * The object of an earlier call with this key that began and did not complete: never created a
   * second time.
   */
  begun: string | null;
};

/**
 * The answer of a call that tells a secret: with it the first time, with the word that it was told
 * in every repeat.
 */
export const shownOnce = <Shape extends z.ZodRawShape, Secret extends z.ZodRawShape>(
  shape: Shape,
  secret: Secret,
) =>
  z.union([
    z.strictObject({ ...shape, ...secret }),
    z.strictObject({
      ...shape,
      secret_already_shown: z.literal(true).meta({
        description: 'A repeat by Idempotency-Key: the secret was in the first answer and is not kept',
      }),
    }),
  ]);

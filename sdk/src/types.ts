import type { operations } from './generated/types.ts';

/** How the methods of the client derive their types from the generated declarations. */

export type OperationId = keyof operations;

/** What a call takes besides its input. */
export type CallOptions = {
  /** Gives up. A call that was sent may have been carried out all the same. */
  signal?: AbortSignal;
  /**
   * Of a call that creates something: what is created is known by it, however often the call is
   * sent. Default: a new one for each call, which covers its own retries; give one that you have
   * stored to cover a crash of your own. Kept for 24 hours.
   */
  idempotencyKey?: string;
};

/** What the client knows of an operation; the generated table holds one for each. */
export type OperationInfo = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Input fields that travel in the query. */
  readonly query?: readonly string[];
  /** There are input fields that travel in the body: what is neither path nor query. */
  readonly body?: true;
  /** Needs no credential, and is sent none. */
  readonly anonymous?: true;
  /** May be sent again after a lost answer: always, or when the input has the named field. */
  readonly repeatable?: true | string;
  /** Takes an Idempotency-Key, by which it may be sent again after a lost answer. */
  readonly keyed?: true;
  /** Answers in pages. */
  readonly list?: true;
  /** How long the API itself may take. Default 5. */
  readonly timeoutSeconds?: number;
};

type Nothing = Record<never, never>;
type Flat<T> = { [K in keyof T]: T[K] };
type Present<T> = [NonNullable<T>] extends [never] ? Nothing : NonNullable<T>;
type JsonOf<T> = T extends { content: { 'application/json': infer Body } } ? Body : Nothing;

/** Path, query and body fields of an operation side by side; their names never collide. */
export type Input<Id extends OperationId> = Flat<
  Present<operations[Id]['parameters']['path']> &
    Present<operations[Id]['parameters']['query']> &
    JsonOf<Present<operations[Id] extends { requestBody?: infer Body } ? Body : never>>
>;

type Successes<Responses> = Responses[keyof Responses];
type BodyOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : undefined;
/** What an operation answers when it succeeds. */
export type Output<Id extends OperationId> = BodyOf<Successes<operations[Id]['responses']>>;

export type Answer<Id extends OperationId> = Promise<Output<Id>>;

type ItemOf<Page> = Page extends { data: readonly (infer Item)[] } ? Item : never;
/**
 * A page when awaited; with `for await` every item of it and of all pages after it, each page asked
 * for when reached.
 */
export type Listing<Id extends OperationId> = Answer<Id> & AsyncIterable<ItemOf<Output<Id>>>;

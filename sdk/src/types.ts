import type { operations } from './generated/types.ts';

/** Derives the types of the client's methods from the generated declarations. */

export type OperationId = keyof operations;

export type CallOptions = {
  /** Aborts the call. A call that was sent may have been executed nevertheless. */
  signal?: AbortSignal;
  /**
   * Identifies what a call creates, however often the call is sent. Default: a new key for each
   * call, which covers its retries. Pass a key that you have stored to cover a crash of your
   * process. Valid for 24 hours.
   */
  idempotencyKey?: string;
};

/** The description of an operation. The generated table has one for each. */
export type OperationInfo = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Input fields that are sent in the query. */
  readonly query?: readonly string[];
  /** The operation has a body: all fields that are neither path nor query. */
  readonly body?: true;
  /** Needs no credential, and none is sent. */
  readonly anonymous?: true;
  /** May be sent again after a lost answer: always, or if the input has the named field. */
  readonly repeatable?: true | string;
  /** Accepts an Idempotency-Key, with which it may be sent again after a lost answer. */
  readonly keyed?: true;
  /** Returns pages. */
  readonly list?: true;
  /** It, or an earlier call with the same ids, may move money. */
  readonly moves?: true;
  /** The API's own time limit. Default 5. */
  readonly timeoutSeconds?: number;
};

type Flat<T> = { [K in keyof T]: T[K] };

/** Path, query and body fields of an operation in one object. Their names never collide. */
export type Input<Id extends OperationId> = Flat<operations[Id]['input']>;

/** The answer of an operation that succeeds. */
export type Output<Id extends OperationId> = operations[Id]['output'];

export type Answer<Id extends OperationId> = Promise<Output<Id>>;

type ItemOf<Page> = Page extends { data: readonly (infer Item)[] } ? Item : never;
/**
 * Awaited, a page. With `for await`, every item of it and of all following pages, each loaded when
 * it is reached.
 */
export type Listing<Id extends OperationId> = Answer<Id> & AsyncIterable<ItemOf<Output<Id>>>;

/** The arguments of a tool are not valid. Nothing was sent. */
export class InvalidRequestError extends TypeError {}

/** An error that is none of ours. Its text may be a stranger's. */
export class ForeignError extends Error {
  /** False: no payment was asked for or presented, so no money has moved. */
  readonly isPaying: boolean;
  constructor(cause: unknown, isPaying: boolean) {
    super('a foreign error', { cause });
    this.isPaying = isPaying;
  }
}

import type { MoneyMoved } from '../../sdk/src/main.ts';

/** The errors of the command itself. Each says what is wrong, and `next` what to do. */
class CommandError extends Error {
  readonly next: string | null;
  constructor(message: string, next: string | null = null) {
    super(message);
    this.name = new.target.name;
    this.next = next;
  }
}

/** The input is not valid. Nothing was sent. */
export class UsageError extends CommandError {}
/** There is no sign-in or key that this command can use. */
export class NotSignedInError extends CommandError {}
/** Nothing was paid. */
export class RefusedError extends CommandError {}
/** Any other failure. */
export class FailedError extends CommandError {}

/** Ctrl-C, with what holds then. */
export class InterruptedError extends CommandError {
  readonly moneyMoved: MoneyMoved;
  constructor(message: string, next: string | null, moneyMoved: MoneyMoved) {
    super(message, next);
    this.moneyMoved = moneyMoved;
  }
}

/**
 * Named hooks at the arrows of the settle path (docs/design/settle.md, "Crash at each arrow") and
 * of what funding creates in several steps. In the product they do nothing, and nothing in a
 * service's environment can change that; a fault run loads a module from test/support/ with
 * `node --import` that puts crashing or waiting functions in their place.
 */
const nothing = async (): Promise<void> => {};

export const failpoints = {
  'settlement.beforeAccept': nothing,
  'settlement.afterAccept': nothing,
  'settlement.beforeIssue': nothing,
  'settlement.afterIssue': nothing,
  'funding.afterBegun': nothing,
  'funding.beforeFinished': nothing,
  'outbox.beforePublish': nothing,
  'outbox.afterPublish': nothing,
  'submitter.beforeIntent': nothing,
  'submitter.afterIntent': nothing,
  'submitter.afterSign': nothing,
  'submitter.afterCommit': nothing,
  'submitter.afterSend': nothing,
  'submitter.afterConfirm': nothing,
};

/** Passes a named point. */
export const failpoint = (name: keyof typeof failpoints): Promise<void> => failpoints[name]();

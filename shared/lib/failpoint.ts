/**
 * Named hooks at the steps of the settle path (docs/design/settle.md, "Crash at each step") and of
 * objects that funding creates in several steps. In production they do nothing, and no environment
 * variable changes that. A fault test loads a module of test/support/ with `node --import`, which
 * replaces them by functions that crash or wait.
 */
const nothing = async (): Promise<void> => {};

export const failpoints = {
  'gateway.beforeHandOut': nothing,
  'settlement.beforeAccept': nothing,
  'settlement.afterAccept': nothing,
  'settlement.beforeCapture': nothing,
  'settlement.afterCapture': nothing,
  'settlement.beforeVoid': nothing,
  'settlement.beforeHandOut': nothing,
  'settlement.beforeIssue': nothing,
  'settlement.afterIssue': nothing,
  'funding.afterBegun': nothing,
  'funding.beforeFinished': nothing,
  'funding.afterSubmitted': nothing,
  'outbox.beforeHandOver': nothing,
  'outbox.afterHandOver': nothing,
  'outbox.beforePublish': nothing,
  'outbox.afterPublish': nothing,
  'submitter.beforeIntent': nothing,
  'submitter.afterIntent': nothing,
  'submitter.afterSign': nothing,
  'submitter.afterCommit': nothing,
  'submitter.afterSend': nothing,
  'submitter.afterConfirm': nothing,
};

/** Runs the hook of a named point. */
export const failpoint = (name: keyof typeof failpoints): Promise<void> => failpoints[name]();

import { ApiError, type MoneyMoved, NoAnswerError } from '../../../sdk/src/main.ts';
import { type NextStep, nextStepOf } from '../../../sdk/src/programs/next-step.ts';
import { passkeyProblem } from '../api/passkeys.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

const MONEY: Record<MoneyMoved, string> = {
  no: 'No money moved.',
  yes: 'The money moved.',
  unknown: 'It is not known whether money moved. Do not pay again.',
};
const STEP: Record<NextStep, string> = {
  correct: 'Change what is named above. The same again is refused again.',
  other_credential: 'Use the account or the key that is named above.',
  sign_in: 'Sign in again.',
  check_id: 'It may belong to another account or environment.',
  read_state: 'Change what is in the way first.',
  read_settlement: 'Your account already has a payment for this quote. Check it first.',
  new_quote: 'Ask the vendor for a new quote.',
  new_payment: 'It needs a new payment.',
  top_up: 'Add money to the wallet first.',
  raise_limit: 'Raise the limit first.',
  await_approval: 'Approve the payment first.',
  ask_owner: 'The owner has decided this.',
  repeat_later: 'Wait a moment, then try again. It never pays twice.',
  repeat_or_support: 'You can safely try again. If it fails again, contact support with the request id.',
};
/** What the user can do, for codes whose API message is meant for programs. */
const TEXTS: Record<string, string> = {
  rate_limited: 'Too many requests. Wait a moment and try again.',
  forbidden: 'Your account cannot do that.',
  unauthorized: 'Your session has ended. Sign in again.',
  reauthentication_required: 'Sign in again: this needs a sign-in within the last five minutes.',
  service_unavailable: 'Temporarily unavailable. Nothing is lost; try again in a moment.',
  internal_error: 'Something went wrong on our side. Try again, or contact support with the request id.',
};

/** What is allowed to a wallet is no limit of an agent or a sign-in, and is changed elsewhere. */
const Step = ({ error }: { error: ApiError }) =>
  error.code === 'delegation_inactive' ? (
    <p>
      <a href="/console/wallet">Allow spending first, under Wallet.</a>
    </p>
  ) : (
    <p>{STEP[nextStepOf(error)]}</p>
  );

/**
 * An error of a call as text: what happened, whether money moved, what is safe to do
 * (`safe_action`), and the code and the request id for support. `retry` adds a button.
 */
export const ErrorNotice = ({ error, retry }: { error: unknown; retry?: () => void }) => {
  const again = retry !== undefined && (
    <Button size="small" onPress={retry}>
      Try again
    </Button>
  );
  const problem = passkeyProblem(error);
  if (problem !== null) return <Notice tone="wait">{problem}</Notice>;
  if (error instanceof NoAnswerError) {
    return (
      <Notice tone="bad" title="No answer">
        Check your connection. Before you repeat a change, check whether it went through.
        <div>{again}</div>
      </Notice>
    );
  }
  if (!(error instanceof ApiError)) {
    return (
      <Notice tone="bad" title={sentence(error instanceof Error ? error.message : String(error))}>
        {again}
      </Notice>
    );
  }
  return (
    <Notice tone="bad" title={TEXTS[error.code] ?? sentence(error.message)}>
      {error.code in TEXTS && <p>{sentence(error.message)}</p>}
      {error.code === 'not_found' && error.safeAction === null && <p>{STEP.check_id}</p>}
      {/* The message is the first of them. */}
      {error.details.length > 1 && (
        <ul>
          {error.details.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {error.moneyMoved !== null && <p>{MONEY[error.moneyMoved]}</p>}
      {error.safeAction !== null && <Step error={error} />}
      <p className="notice-properties">
        <span>
          Code <code>{error.code}</code>
        </span>
        {error.requestId !== null && (
          <span>
            Request <code>{error.requestId}</code>
          </span>
        )}
      </p>
      {again}
    </Notice>
  );
};

const sentence = (text: string): string => {
  const capitalised = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capitalised) ? capitalised : `${capitalised}.`;
};

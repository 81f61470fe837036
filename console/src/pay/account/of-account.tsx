import { type ReactNode, useEffect } from 'react';
import { session } from '../../api/store.ts';
import { DataOfAccount, useSession } from '../../api/use-session.tsx';
import { StepUpDialog } from '../../session/step-up.tsx';
import { Loading } from '../../ui/layout.tsx';
import { TEXTS } from '../texts.ts';

type Props = { environment: 'test' | 'live'; children: ReactNode };

/**
 * Asks whether the browser is signed in to the environment, unless an earlier part of the page has.
 */
const ask = (wanted: Props['environment']): void => {
  const { environment, status } = session.get();
  if (environment !== wanted) void session.switchTo(wanted);
  else if (status === 'resuming' || status === 'unreachable') void session.resume();
};

/** Its children, once it is known whether the browser is signed in to the environment. */
const Known = ({ environment: wanted, children }: Props) => {
  const { status, environment } = useSession();
  useEffect(() => ask(wanted), [wanted]);
  if (environment !== wanted || status === 'resuming') return <Loading>{TEXTS.reading}</Loading>;
  return children;
};

/** What a page of a payment does for an account of the environment of its quote. */
export const OfAccount = ({ environment, children }: Props) => (
  <DataOfAccount>
    <Known environment={environment}>{children}</Known>
    <StepUpDialog />
  </DataOfAccount>
);

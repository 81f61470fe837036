import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useSession } from '../api/use-session.tsx';
import { Button, ErrorNotice, Loading, Page } from '../ui/index.ts';
import { Checklist } from './checklist.tsx';
import './home.css';
import { useHidden } from './hidden.ts';
import { RoleQuestion, useRole } from './role.tsx';
import { guessRole, nextOf, stepsOf } from './steps.ts';
import { HOME } from './texts.ts';
import { ToDo } from './to-do.tsx';
import { useProgress } from './use-progress.ts';

/** A new person needs it later, or never. */
const Overview = lazy(() => import('./overview.tsx'));

/** The home page: what comes next for a new person, and how things stand for everyone else. */
const HomePage = () => {
  const { account } = useSession();
  const { progress, wallets, services, endpoints, error, again } = useProgress();
  const [isHidden, setHidden] = useHidden(account?.account_id ?? '');
  const [chosen, setRole] = useRole(account?.account_id ?? '');
  const [isAsked, setAsked] = useState(false);
  const role = chosen ?? (progress === null ? null : guessRole(progress));
  const isComplete = progress !== null && role !== null && nextOf(stepsOf(role, progress)) === undefined;
  // What the account gets next must not change the list.
  useEffect(() => {
    if (chosen === null && role !== null) setRole(role);
  });
  // It stays until the page is left, because its last step may still show a secret.
  const wasShown = useRef(false);
  if (progress !== null && !isComplete) wasShown.current = true;
  const isNew = progress !== null && progress.payments === 0 && !progress.isServed;
  return (
    <Page
      title={isNew ? HOME.welcome : HOME.home}
      about={`Signed in as ${account?.email ?? ''}.`}
      actions={
        isHidden &&
        !isComplete && (
          <Button size="small" variant="quiet" onPress={() => setHidden(false)}>
            {HOME.show}
          </Button>
        )
      }
    >
      {error !== null && <ErrorNotice error={error} retry={again} />}
      {progress === null && error === null && <Loading>Loading your account…</Loading>}
      {progress !== null && (
        <>
          <ToDo wallets={wallets} endpoints={endpoints} />
          {wasShown.current && !isHidden && (role === null || isAsked) && (
            <RoleQuestion
              onChoose={(next) => {
                setRole(next);
                setAsked(false);
              }}
            />
          )}
          {wasShown.current && !isHidden && role !== null && !isAsked && (
            <Checklist
              role={role}
              progress={progress}
              wallets={wallets}
              onChange={() => setAsked(true)}
              onHide={() => setHidden(true)}
            />
          )}
          {(!isNew || isHidden) && (
            <Suspense fallback={<Loading>Loading the figures…</Loading>}>
              <Overview wallets={wallets} isVendor={services.length > 0} isBuyer={wallets.length > 0} />
            </Suspense>
          )}
        </>
      )}
    </Page>
  );
};
export default HomePage;

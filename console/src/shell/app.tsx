import { lazy, Suspense } from 'react';
import { Route, Router, Switch, useLocation } from 'wouter';
import { wasSignedIn } from '../api/store.ts';
import { DataOfAccount, useSession } from '../api/use-session.tsx';
import type { PageEntry } from '../page-entry.ts';
import { Boundary } from '../recover.tsx';
import { SignInPage } from '../session/sign-in.tsx';
import { Empty, LinkButton, Loading } from '../ui/index.ts';
import { Frame } from './frame.tsx';
import { AREAS, PUBLIC_PAGES } from './routes.ts';

type Opened = { path: string; Page: ReturnType<typeof lazy> };
const opened = ({ path, load }: PageEntry): Opened => ({ path, Page: lazy(load) });
const PAGES = AREAS.flatMap(({ pages }) => pages.map(opened));
const PUBLIC = PUBLIC_PAGES.map(opened);

const routesOf = (pages: readonly Opened[]) =>
  pages.map(({ path, Page }) => (
    <Route key={path} path={path}>
      <Suspense fallback={<Loading>Loading the page…</Loading>}>
        <Page />
      </Suspense>
    </Route>
  ));

const SignedIn = () => {
  const { status } = useSession();
  const [path] = useLocation();
  if (status === 'resuming') {
    return (
      // Somebody who was signed in sees the page's frame at once.
      <Frame door={!wasSignedIn()}>
        <Loading>Signing you in…</Loading>
      </Frame>
    );
  }
  if (status !== 'signed-in') {
    return (
      <Frame door>
        <SignInPage />
      </Frame>
    );
  }
  return (
    <Frame>
      <Boundary path={path}>
        <Switch>
          {routesOf(PAGES)}
          <Route>
            <Empty title="This page does not exist">
              <LinkButton to="/">Go to Home</LinkButton>
            </Empty>
          </Route>
        </Switch>
      </Boundary>
    </Frame>
  );
};

/** The console: public pages first, then all pages that need a sign-in. */
export const App = () => (
  <Router base="/console">
    <DataOfAccount>
      <Switch>
        {PUBLIC.map(({ path, Page }) => (
          <Route key={path} path={path}>
            <Frame door>
              <Boundary path={path}>
                <Suspense fallback={<Loading>Loading the page…</Loading>}>
                  <Page />
                </Suspense>
              </Boundary>
            </Frame>
          </Route>
        ))}
        <Route>
          <SignedIn />
        </Route>
      </Switch>
    </DataOfAccount>
  </Router>
);

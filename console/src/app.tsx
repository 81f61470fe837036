import { Component, lazy, type ReactNode, Suspense } from 'react';
import { Route, Router, Switch } from 'wouter';
import type { PageEntry } from './page-entry.ts';
import { AREAS, PUBLIC_PAGES } from './routes.ts';
import { SignInPage } from './session/sign-in.tsx';
import { DataOfAccount, useSession } from './session/use-session.tsx';
import { ErrorNotice } from './ui/error-notice.tsx';
import { Frame } from './ui/frame.tsx';
import { Empty, LinkButton, Loading } from './ui/index.ts';

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

/** An error of a page, or missing files after a release, must not break the frame. */
class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === null) return this.props.children;
    return <ErrorNotice error={this.state.error} retry={() => location.reload()} />;
  }
}

const SignedIn = () => {
  const { status } = useSession();
  if (status === 'resuming') {
    return (
      <Frame door>
        <Loading>Checking whether you are signed in…</Loading>
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
      <Boundary>
        <Switch>
          {routesOf(PAGES)}
          <Route>
            <Empty title="This page does not exist">
              <LinkButton to="/">To the start page</LinkButton>
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
              <Boundary>
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

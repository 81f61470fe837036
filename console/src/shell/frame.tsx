import { ArrowLeftRight, ChartColumn, House, Menu } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { session } from '../api/store.ts';
import { useSession } from '../api/use-session.tsx';
import { useWaitingCount } from '../payments/waiting-approvals.ts';
import { StepUpDialog } from '../session/step-up.tsx';
import { Button } from '../ui/button.tsx';
import { Mark } from '../ui/mark.tsx';
import { nextTheme, useTheme } from '../ui/theme.ts';
import { Toasts, toast } from '../ui/toast.tsx';
import { Band } from './band.tsx';
import { AREAS } from './routes.ts';

/** The frame of every page: the environment's band and, for signed-in users, the navigation. */
export const Frame = ({ children, door = false }: { children: ReactNode; door?: boolean }) => {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it must run for each new path
  useEffect(() => {
    // Moves the focus after a link inside the console was followed. The first page starts at its
    // top.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [path]);
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Band door={door} />
      {!door && <Navigation path={path} />}
      <main id="main" ref={main} tabIndex={-1} className={door ? 'door' : 'main'}>
        {door && (
          <p className="brand">
            <Mark /> Quittance
          </p>
        )}
        {children}
      </main>
      <StepUpDialog />
      <Toasts />
    </div>
  );
};

const BAR = [
  ['/', 'Home', House],
  ['/activity', 'Activity', ArrowLeftRight],
  ['/sales', 'Sales', ChartColumn],
] as const;

const isAt = (path: string, entry: string) =>
  path === entry || (entry !== '/' && path.startsWith(`${entry}/`));

const Navigation = ({ path }: { path: string }) => {
  const { account } = useSession();
  const [open, setOpen] = useState(false);
  const theme = useTheme();
  const waiting = useWaitingCount();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when another page is shown
  useEffect(() => setOpen(false), [path]);
  const signOut = () =>
    session.signOut().catch(() => toast('No answer, so you are still signed in. Try again.'));
  return (
    <>
      <nav className="side" aria-label="Pages" data-open={open || undefined}>
        <Link href="/" className="brand">
          <Mark /> Quittance
        </Link>
        {AREAS.map(({ heading, pages }) => (
          <div key={heading ?? 'first'} className="nav-group">
            {heading !== null && <h2>{heading}</h2>}
            <ul>
              {pages.flatMap(({ path: to, nav, icon: Icon }) =>
                nav === undefined ? (
                  []
                ) : (
                  <li key={to}>
                    <Link href={to} className="nav-link" aria-current={isAt(path, to) ? 'page' : undefined}>
                      {Icon !== undefined && <Icon aria-hidden="true" />}
                      {nav}
                      {to === '/approvals' && waiting > 0 && (
                        <span className="nav-count">
                          {waiting}
                          <span className="visually-hidden"> waiting</span>
                        </span>
                      )}
                    </Link>
                  </li>
                ),
              )}
            </ul>
          </div>
        ))}
        <div className="who">
          <span>{account?.email}</span>
          <Button size="small" variant="quiet" onPress={() => void signOut()}>
            Sign out
          </Button>
          <Button size="small" variant="quiet" onPress={nextTheme}>
            Theme: {theme}
          </Button>
        </div>
      </nav>
      <nav className="bar" aria-label="Shortcuts">
        {BAR.map(([to, text, Icon]) => (
          <Link key={to} href={to} aria-current={isAt(path, to) && !open ? 'page' : undefined}>
            <Icon aria-hidden="true" />
            {text}
          </Link>
        ))}
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Menu aria-hidden="true" />
          {open ? 'Close' : waiting > 0 ? `All pages (${waiting})` : 'All pages'}
        </button>
      </nav>
    </>
  );
};

import { BookOpen, CircleQuestionMark, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { matchRoute, useLocation, useRouter } from 'wouter';
import { chooseEnvironment } from '../api/store.ts';
import { useSession } from '../api/use-session.tsx';
import { GUIDES } from '../generated/guides.ts';
import { Button } from '../ui/button.tsx';
import { AREAS } from './routes.ts';

/** It is loaded when it is first opened. */
const Palette = lazy(() => import('./palette.tsx'));

const TEXTS = { test: 'Test mode: no real money', live: 'Live: real money' };

/** The environments that this system serves. Null while they are unknown; then both are offered. */
const useServed = (): readonly string[] | null => {
  const [served, setServed] = useState<readonly string[] | null>(null);
  const { client } = useSession();
  useEffect(() => {
    client.gateway.ready().then(
      ({ environments }) => setServed(Object.keys(environments)),
      () => undefined,
    );
  }, [client]);
  return served;
};

/** The band on top of every page: the environment, and for a signed-in person search and help. */
export const Band = ({ door }: { door: boolean }) => {
  const { environment, status } = useSession();
  const served = useServed();
  const other = environment === 'test' ? 'live' : 'test';
  return (
    <header className="band" data-environment={environment}>
      <strong>{TEXTS[environment]}</strong>
      <div className="band-tools">
        {!door && <PaletteButton />}
        {!door && <Help />}
        <a className="band-link" href="/docs/guides">
          <BookOpen aria-hidden="true" />
          <span className="band-text">Docs</span>
        </a>
        {served?.includes(other) !== false && (
          <Button
            size="small"
            busy={status === 'resuming' && 'Switching…'}
            onPress={() => void chooseEnvironment(other)}
          >
            Switch to {other}
          </Button>
        )}
      </div>
    </header>
  );
};

const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

/** The button of the command palette, which Ctrl-K opens as well. */
const PaletteButton = () => {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      // The browser's own search.
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button type="button" className="band-link" onClick={() => setOpen(true)}>
        <Search aria-hidden="true" />
        <span className="band-text">
          Search <kbd>{isMac ? '⌘' : 'Ctrl'} K</kbd>
        </span>
      </button>
      {isOpen && (
        <Suspense>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
};

const PAGES = AREAS.flatMap(({ pages }) => pages);

/** The guide of the page that is shown. */
const Help = () => {
  const [path] = useLocation();
  const { parser } = useRouter();
  const name = PAGES.find((page) => matchRoute(parser, page.path, path)[0])?.guide;
  const guide = GUIDES.find((each) => each.name === name);
  if (guide === undefined) return null;
  return (
    <a
      className="band-link"
      href={`/docs/guides/${guide.name}`}
      target="_blank"
      rel="noreferrer"
      aria-label={`Help: ${guide.title}`}
      title={`Guide: ${guide.title}`}
    >
      <CircleQuestionMark aria-hidden="true" />
    </a>
  );
};

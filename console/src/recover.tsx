import { Component, type ReactNode, useEffect, useState } from 'react';
import { Button } from './ui/button.tsx';
import { ErrorNotice } from './ui/error-notice.tsx';
import { Notice } from './ui/notice.tsx';

/** How the browsers, and vite for a style, name a file of the console that did not load. */
const NOT_LOADED = /dynamically imported module|importing a module script|Unable to preload CSS/i;
/** Whether an error means that a part of the console did not load. */
const isNotLoaded = (error: unknown): boolean => error instanceof Error && NOT_LOADED.test(error.message);

const PROBE_MS = 3000;
const RELOADED = 'quittance.reloaded';
/** A page that is loaded again within this time did not get better by it. */
const ONCE_MS = 60_000;

/** Loads the page again, unless it was loaded again a moment ago for the same reason. */
const reloadOnce = (): boolean => {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < ONCE_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
  return true;
};

/**
 * A part of the console did not load: the connection was lost, or a release has replaced the files.
 * It loads the page again as soon as the system answers.
 */
const NotLoaded = () => {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (isOver) return;
    const probe = () =>
      fetch('/console/', { cache: 'no-store' }).then(
        ({ ok }) => ok && !reloadOnce() && setOver(true),
        () => undefined,
      );
    void probe();
    const timer = setInterval(() => void probe(), PROBE_MS);
    addEventListener('online', probe);
    return () => {
      clearInterval(timer);
      removeEventListener('online', probe);
    };
  }, [isOver]);
  return (
    <Notice tone="wait" title="This page could not be loaded">
      {isOver
        ? 'Reload it. If that does not help, write to support.'
        : 'Check your connection. The page reloads as soon as Quittance answers.'}
      <div>
        <Button size="small" onPress={() => location.reload()}>
          Reload
        </Button>
      </div>
    </Notice>
  );
};

/**
 * An error of a page must not break the frame, nor the next page.
 * @param path another path gets a new try
 */
export class Boundary extends Component<
  { path: string; children: ReactNode },
  { error: unknown; path: string }
> {
  override state = { error: null as unknown, path: this.props.path };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  static getDerivedStateFromProps({ path }: { path: string }, state: { path: string }) {
    return path === state.path ? null : { error: null, path };
  }
  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (isNotLoaded(error)) return <NotLoaded />;
    return <ErrorNotice error={error} retry={() => location.reload()} />;
  }
}

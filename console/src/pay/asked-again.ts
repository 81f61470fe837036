import { useEffect, useRef } from 'react';

const AGAIN_MS = 2000;

/** Calls back once the page is visible: at once, or when a person returns to it. */
const whenVisible = (callback: () => void): (() => void) => {
  if (document.visibilityState === 'visible') {
    callback();
    return () => undefined;
  }
  const listener = () => {
    if (document.visibilityState !== 'visible') return;
    document.removeEventListener('visibilitychange', listener);
    callback();
  };
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
};

/**
 * Asks again and again until the answer says what to do.
 * @param of what is asked about. Null: nothing is asked.
 * @param ask returns what is to be done with the outcome. Null: it is not known yet.
 * @param options `everyMs`: the pause after an answer; `rests`: nothing is asked while the page is
 *   not visible, because nothing depends on it
 */
export const useAskedAgain = (
  of: string | null,
  ask: () => Promise<(() => void) | null>,
  { everyMs = AGAIN_MS, rests = false }: { everyMs?: number; rests?: boolean } = {},
): void => {
  const now = useRef({ ask, everyMs, rests });
  now.current = { ask, everyMs, rests };
  useEffect(() => {
    if (of === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wait = () => {};
    let isOver = false;
    const attempt = async (): Promise<void> => {
      const conclude = await now.current.ask();
      if (isOver) return;
      if (conclude !== null) return conclude();
      timer = setTimeout(() => {
        if (now.current.rests) wait = whenVisible(() => void attempt());
        else void attempt();
      }, now.current.everyMs);
    };
    void attempt();
    return () => {
      isOver = true;
      clearTimeout(timer);
      wait();
    };
  }, [of]);
};

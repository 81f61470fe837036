import { useSyncExternalStore } from 'react';

const subscribe = (listener: () => void) => {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
};

/** The fragment of the page's address, without its number sign. No server gets it. */
export const useFragment = (): string => useSyncExternalStore(subscribe, () => location.hash.slice(1));

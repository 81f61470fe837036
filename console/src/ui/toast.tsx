import { useSyncExternalStore } from 'react';

/**
 * A short message about a success, for some seconds. Errors stay where they occurred: use
 * `ErrorNotice`.
 */
type Toast = { id: number; text: string };

const SHOWN_MS = 5000;
const listeners = new Set<() => void>();
let shown: readonly Toast[] = [];
let last = 0;

const set = (next: readonly Toast[]) => {
  shown = next;
  for (const listener of listeners) listener();
};

/** Shows a toast, from anywhere. */
export const toast = (text: string): void => {
  last += 1;
  const id = last;
  set([...shown, { id, text }]);
  setTimeout(() => set(shown.filter((each) => each.id !== id)), SHOWN_MS);
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Rendered once per page, by the frame. */
export const Toasts = () => (
  <div className="toasts" role="status" aria-live="polite">
    {useSyncExternalStore(subscribe, () => shown).map(({ id, text }) => (
      <div key={id} className="toast">
        {text}
      </div>
    ))}
  </div>
);

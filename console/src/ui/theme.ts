import { useSyncExternalStore } from 'react';

/** Light, dark, or (system) the device's setting. Stored for the next visit. */
type Theme = 'system' | 'light' | 'dark';

const KEY = 'quittance.theme';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];
const listeners = new Set<() => void>();
const read = (): Theme => ORDER.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';
let theme = read();

/** Sets the page's colours. Called once before the first render, and by every change. */
export const applyTheme = (): void => {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
};

/** Switches to the next theme. */
export const nextTheme = (): void => {
  theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length]!;
  localStorage.setItem(KEY, theme);
  applyTheme();
  for (const listener of listeners) listener();
};

export const useTheme = (): Theme =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => theme,
  );

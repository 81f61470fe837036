import type { PageEntry } from '../page-entry.ts';

export const accountPages: readonly PageEntry[] = [
  { path: '/account', nav: 'Account', load: () => import('./account.tsx') },
  { path: '/device', load: () => import('./device.tsx') },
];

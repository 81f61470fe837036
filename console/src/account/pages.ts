import type { PageEntry } from '../routes.ts';

export const accountPages: readonly PageEntry[] = [
  { path: '/account', nav: 'Account', load: () => import('./account.tsx') },
];

import type { ComponentType } from 'react';
import { accountPages } from './account/pages.ts';
import { consumerPages } from './consumer/pages.ts';
import { vendorPages } from './vendor/pages.ts';

/** A page of the console. It is loaded when it is first opened. */
export type PageEntry = {
  /** Below /console, as wouter matches it: `/wallet`, `/payments/:settlement_id`. */
  path: string;
  /** Its label in the navigation. A page without one is reached from other pages. */
  nav?: string;
  load: () => Promise<{ default: ComponentType }>;
};

/** The navigation in its order. Each area lists its own pages. */
export const AREAS: readonly { heading: string; pages: readonly PageEntry[] }[] = [
  { heading: 'Pay', pages: consumerPages },
  { heading: 'Sell', pages: vendorPages },
  { heading: 'You', pages: accountPages },
];

/** Pages of mailed links. They need no sign-in. */
export const PUBLIC_PAGES: readonly PageEntry[] = [
  { path: '/sign-in/link', load: () => import('./session/link-page.tsx') },
  { path: '/reveal', load: () => import('./session/reveal-page.tsx') },
];

import type { ComponentType } from 'react';
import { accountPages } from './account/pages.ts';
import { consumerPages } from './consumer/pages.ts';
import { vendorPages } from './vendor/pages.ts';

/** A page of the console, loaded when it is first opened. */
export type PageEntry = {
  /** Below /console, as wouter matches it: `/wallet`, `/payments/:settlement_id`. */
  path: string;
  /** Its words in the navigation; a page without is reached from others. */
  nav?: string;
  load: () => Promise<{ default: ComponentType }>;
};

/** The navigation, in its order; each area lists its own pages. */
export const AREAS: readonly { heading: string; pages: readonly PageEntry[] }[] = [
  { heading: 'Pay', pages: consumerPages },
  { heading: 'Sell', pages: vendorPages },
  { heading: 'You', pages: accountPages },
];

/** Pages behind mailed links: they need no sign-in and stand alone. */
export const PUBLIC_PAGES: readonly PageEntry[] = [
  { path: '/sign-in/link', load: () => import('./session/link-page.tsx') },
  { path: '/reveal', load: () => import('./session/reveal-page.tsx') },
];

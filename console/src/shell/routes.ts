import { accountPages } from '../account/pages.ts';
import { consumerPages } from '../consumer/pages.ts';
import { developerPages } from '../developers/pages.ts';
import { homePages } from '../home/pages.ts';
import type { PageEntry } from '../page-entry.ts';
import { vendorPages } from '../selling/pages.ts';

/** The navigation in its order. Each area lists its own pages. */
export const AREAS: readonly { heading: string | null; pages: readonly PageEntry[] }[] = [
  { heading: null, pages: homePages },
  { heading: 'Pay', pages: consumerPages },
  { heading: 'Sell', pages: vendorPages },
  { heading: 'Build', pages: developerPages },
  { heading: 'You', pages: accountPages },
];

/** Pages of mailed links. They need no sign-in. */
export const PUBLIC_PAGES: readonly PageEntry[] = [
  { path: '/sign-in/link', load: () => import('../session/link-page.tsx') },
  { path: '/reveal', load: () => import('../session/reveal-page.tsx') },
];

import { CircleUser } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const accountPages: readonly PageEntry[] = [
  { path: '/account', nav: 'Account', icon: CircleUser, load: () => import('./account.tsx') },
  { path: '/device', load: () => import('./device.tsx') },
];

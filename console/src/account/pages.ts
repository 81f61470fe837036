import { CircleUser } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const accountPages: readonly PageEntry[] = [
  {
    path: '/account',
    guide: 'authentication',
    nav: 'Account',
    icon: CircleUser,
    load: () => import('./account.tsx'),
  },
  { path: '/device', guide: 'authentication', load: () => import('./device.tsx') },
];

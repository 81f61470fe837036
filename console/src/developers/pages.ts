import { ScrollText, SquareTerminal } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const developerPages: readonly PageEntry[] = [
  {
    path: '/developers',
    guide: 'authentication',
    nav: 'Developers',
    icon: SquareTerminal,
    load: () => import('./developers.tsx'),
  },
  {
    path: '/requests',
    guide: 'errors',
    nav: 'Requests',
    icon: ScrollText,
    load: () => import('./requests.tsx'),
  },
];

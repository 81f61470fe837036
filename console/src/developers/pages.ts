import { ScrollText, SquareTerminal } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const developerPages: readonly PageEntry[] = [
  { path: '/developers', nav: 'Developers', icon: SquareTerminal, load: () => import('./developers.tsx') },
  { path: '/requests', nav: 'Requests', icon: ScrollText, load: () => import('./requests.tsx') },
];

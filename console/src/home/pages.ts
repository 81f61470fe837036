import { House } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const homePages: readonly PageEntry[] = [
  { path: '/', guide: 'quickstart-vendor', nav: 'Home', icon: House, load: () => import('./home.tsx') },
];

import { ChartColumn, CodeXml, Play, Store, Webhook } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const vendorPages: readonly PageEntry[] = [
  {
    path: '/services',
    guide: 'quickstart-vendor',
    nav: 'Services',
    icon: Store,
    load: () => import('./services.tsx'),
  },
  { path: '/services/:service_id', guide: 'quickstart-vendor', load: () => import('./service.tsx') },
  {
    path: '/sales',
    guide: 'quickstart-vendor',
    nav: 'Sales',
    icon: ChartColumn,
    load: () => import('./sales.tsx'),
  },
  { path: '/sales/statement', guide: 'limits', load: () => import('./statement.tsx') },
  { path: '/sales/:settlement_id', guide: 'receipts', load: () => import('./settlement.tsx') },
  {
    path: '/webhooks',
    guide: 'webhooks',
    nav: 'Webhooks',
    icon: Webhook,
    load: () => import('./webhooks.tsx'),
  },
  { path: '/webhooks/:endpoint_id', guide: 'webhooks', load: () => import('./webhook.tsx') },
  { path: '/try', guide: 'quickstart-vendor', nav: 'Try it', icon: Play, load: () => import('./try.tsx') },
  { path: '/protect', guide: 'gate', load: () => import('./protect.tsx') },
  {
    path: '/integrate',
    guide: 'quickstart-vendor',
    nav: 'Integrate',
    icon: CodeXml,
    load: () => import('./snippets.tsx'),
  },
];

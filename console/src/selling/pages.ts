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
    load: () => import('./sales/sales.tsx'),
  },
  { path: '/sales/statement', guide: 'limits', load: () => import('./sales/statement.tsx') },
  { path: '/sales/:settlement_id', guide: 'receipts', load: () => import('./sales/settlement.tsx') },
  {
    path: '/webhooks',
    guide: 'webhooks',
    nav: 'Webhooks',
    icon: Webhook,
    load: () => import('./webhooks/webhooks.tsx'),
  },
  { path: '/webhooks/:endpoint_id', guide: 'webhooks', load: () => import('./webhooks/webhook.tsx') },
  {
    path: '/try',
    guide: 'quickstart-vendor',
    nav: 'Try it',
    icon: Play,
    load: () => import('./trying/try.tsx'),
  },
  { path: '/protect', guide: 'gate', load: () => import('./gate/protect.tsx') },
  {
    path: '/integrate',
    guide: 'quickstart-vendor',
    nav: 'Integrate',
    icon: CodeXml,
    load: () => import('./trying/snippets.tsx'),
  },
];

import { ChartColumn, CodeXml, Play, Store, Webhook } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const vendorPages: readonly PageEntry[] = [
  { path: '/services', nav: 'Services', icon: Store, load: () => import('./services.tsx') },
  { path: '/services/:service_id', load: () => import('./service.tsx') },
  { path: '/sales', nav: 'Sales', icon: ChartColumn, load: () => import('./sales.tsx') },
  { path: '/sales/statement', load: () => import('./statement.tsx') },
  { path: '/sales/:settlement_id', load: () => import('./settlement.tsx') },
  { path: '/webhooks', nav: 'Webhooks', icon: Webhook, load: () => import('./webhooks.tsx') },
  { path: '/webhooks/:endpoint_id', load: () => import('./webhook.tsx') },
  { path: '/try', nav: 'Try it', icon: Play, load: () => import('./try.tsx') },
  { path: '/integrate', nav: 'Integrate', icon: CodeXml, load: () => import('./snippets.tsx') },
];

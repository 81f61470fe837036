import type { PageEntry } from '../page-entry.ts';

export const vendorPages: readonly PageEntry[] = [
  { path: '/services', nav: 'Services', load: () => import('./services.tsx') },
  { path: '/services/:service_id', load: () => import('./service.tsx') },
  { path: '/sales', nav: 'Sales', load: () => import('./sales.tsx') },
  { path: '/sales/:settlement_id', load: () => import('./settlement.tsx') },
  { path: '/webhooks', nav: 'Webhooks', load: () => import('./webhooks.tsx') },
  { path: '/webhooks/:endpoint_id', load: () => import('./webhook.tsx') },
  { path: '/try', nav: 'Try it', load: () => import('./try.tsx') },
  { path: '/integrate', nav: 'Integrate', load: () => import('./snippets.tsx') },
];

import type { PageEntry } from '../page-entry.ts';

export const consumerPages: readonly PageEntry[] = [
  { path: '/wallet', nav: 'Wallet', load: () => import('./wallet.tsx') },
  { path: '/delegates', nav: 'Delegates', load: () => import('./delegates.tsx') },
  { path: '/approvals', nav: 'Approvals', load: () => import('./approvals.tsx') },
  { path: '/approvals/:approval_id', load: () => import('./approval.tsx') },
  { path: '/activity', nav: 'Activity', load: () => import('./activity.tsx') },
  { path: '/payments/:settlement_id', load: () => import('./receipt.tsx') },
  { path: '/deposits', nav: 'Deposits', load: () => import('./deposits.tsx') },
  { path: '/withdrawals', nav: 'Withdrawals', load: () => import('./withdrawals.tsx') },
];

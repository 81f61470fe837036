import { ArrowDownToLine, ArrowLeftRight, ArrowUpFromLine, Bot, ShieldCheck, Wallet } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const consumerPages: readonly PageEntry[] = [
  { path: '/wallet', nav: 'Wallet', icon: Wallet, load: () => import('./wallet.tsx') },
  { path: '/delegates', nav: 'Agents', icon: Bot, load: () => import('./delegates.tsx') },
  { path: '/approvals', nav: 'Approvals', icon: ShieldCheck, load: () => import('./approvals.tsx') },
  { path: '/approvals/:approval_id', load: () => import('./approval.tsx') },
  { path: '/activity', nav: 'Activity', icon: ArrowLeftRight, load: () => import('./activity.tsx') },
  { path: '/payments/:settlement_id', load: () => import('./receipt.tsx') },
  { path: '/deposits', nav: 'Deposits', icon: ArrowDownToLine, load: () => import('./deposits.tsx') },
  {
    path: '/withdrawals',
    nav: 'Withdrawals',
    icon: ArrowUpFromLine,
    load: () => import('./withdrawals.tsx'),
  },
];

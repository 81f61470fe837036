import { ArrowDownToLine, ArrowLeftRight, ArrowUpFromLine, Bot, ShieldCheck, Wallet } from 'lucide-react';
import type { PageEntry } from '../page-entry.ts';

export const consumerPages: readonly PageEntry[] = [
  {
    path: '/wallet',
    guide: 'quickstart-buyer',
    nav: 'Wallet',
    icon: Wallet,
    load: () => import('./wallet.tsx'),
  },
  {
    path: '/delegates',
    guide: 'quickstart-agent',
    nav: 'Agents',
    icon: Bot,
    load: () => import('./delegates/delegates.tsx'),
  },
  {
    path: '/approvals',
    guide: 'agents',
    nav: 'Approvals',
    icon: ShieldCheck,
    load: () => import('./approvals.tsx'),
  },
  { path: '/approvals/:approval_id', guide: 'agents', load: () => import('./approval.tsx') },
  {
    path: '/activity',
    guide: 'receipts',
    nav: 'Activity',
    icon: ArrowLeftRight,
    load: () => import('./activity/activity.tsx'),
  },
  { path: '/payments/:settlement_id', guide: 'receipts', load: () => import('./receipt.tsx') },
  {
    path: '/deposits',
    guide: 'quickstart-buyer',
    nav: 'Deposits',
    icon: ArrowDownToLine,
    load: () => import('./deposits.tsx'),
  },
  {
    path: '/withdrawals',
    guide: 'quickstart-buyer',
    nav: 'Withdrawals',
    icon: ArrowUpFromLine,
    load: () => import('./withdrawals.tsx'),
  },
];

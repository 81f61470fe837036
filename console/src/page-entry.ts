import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';

/** A page of the console. It is loaded when it is first opened. */
export type PageEntry = {
  /** Below /console, as wouter matches it: `/wallet`, `/payments/:settlement_id`. */
  path: string;
  /** Its label in the navigation. A page without one is reached from other pages. */
  nav?: string;
  icon?: LucideIcon;
  load: () => Promise<{ default: ComponentType }>;
};

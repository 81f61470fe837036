import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { GUIDES } from './generated/guides.ts';

type GuideName = (typeof GUIDES)[number]['name'];

/** A page of the console. It is loaded when it is first opened. */
export type PageEntry = {
  /** Below /console, as wouter matches it: `/wallet`, `/payments/:settlement_id`. */
  path: string;
  /** Its label in the navigation. A page without one is reached from other pages. */
  nav?: string;
  icon?: LucideIcon;
  /** The guide that explains what the page is for. */
  guide?: GuideName;
  load: () => Promise<{ default: ComponentType }>;
};

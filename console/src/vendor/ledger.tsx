import type { ComponentProps } from 'react';
import { Facts } from '../ui/index.ts';
import './vendor.css';

/** Facts whose values are numbers, one below the other at the right. */
export const Ledger = ({ of }: ComponentProps<typeof Facts>) => (
  <div className="ledger">
    <Facts of={of} />
  </div>
);

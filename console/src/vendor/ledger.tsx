import type { ComponentProps } from 'react';
import { Properties } from '../ui/index.ts';
import './vendor.css';

/** Properties whose values are numbers, one below the other at the right. */
export const Ledger = ({ of }: ComponentProps<typeof Properties>) => (
  <div className="ledger">
    <Properties of={of} />
  </div>
);

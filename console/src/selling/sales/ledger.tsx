import type { ComponentProps } from 'react';
import { Properties } from '../../ui/index.ts';
import '../../payments/payments.css';

/** Properties with numeric values, aligned to the right. */
export const Ledger = ({ of }: ComponentProps<typeof Properties>) => (
  <div className="ledger">
    <Properties of={of} />
  </div>
);

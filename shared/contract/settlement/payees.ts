import { z } from 'zod';
import { MAX_SPLITS } from '../chain-submitter/outgoing.ts';
import { MicroUsdc, SolanaAddress } from '../primitives.ts';

const Payee = z
  .strictObject({
    address: SolanaAddress.describe('Address that is paid'),
    amount: MicroUsdc.describe('What it gets'),
  })
  .meta({ id: 'Payee' });

/** Everybody whom a payment pays (shared/lib/money/payees.ts), each address once. */
export const Payees = z
  .array(Payee)
  .min(1)
  .max(1 + MAX_SPLITS);

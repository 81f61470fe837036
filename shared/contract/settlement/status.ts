import { z } from 'zod';

export const SettlementStatus = z
  .enum(['pending', 'issued', 'redeemed', 'expired', 'failed'])
  .meta({ id: 'SettlementStatus' });
export const ChainStatus = z
  .enum(['pending', 'confirmed', 'finalized', 'failed'])
  .meta({ id: 'ChainStatus' });

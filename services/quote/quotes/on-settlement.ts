import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { SettlementTransition } from './model/status.ts';

/** What the events of the settlement service mean for the quote that they pay. */
type Events = typeof settlement.events;

export const onSettlementAccepted = ({
  quote_id,
  settlement_id,
}: z.infer<Events['accepted']>): SettlementTransition[] => [{ quote_id, settlement_id, event: 'accepted' }];

export const onSettlementIssued = ({
  quote_id,
  settlement_id,
}: z.infer<Events['issued']>): SettlementTransition[] => [{ quote_id, settlement_id, event: 'issued' }];

export const onSettlementFailed = ({
  quote_id,
  settlement_id,
}: z.infer<Events['failed']>): SettlementTransition[] => [{ quote_id, settlement_id, event: 'failed' }];

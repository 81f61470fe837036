import type { z } from 'zod';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { SettlementTransition } from './model/status.ts';

/** What the events of the settlement service mean for the quote that they pay. */
type Events = typeof settlement.events;
type PaymentEvent = Pick<z.infer<Events['accepted']>, 'quote_id' | 'settlement_id'>;

/** A payment of another protocol has no quote. */
const transitionOf = (
  { quote_id, settlement_id }: PaymentEvent,
  event: SettlementTransition['event'],
): SettlementTransition[] => (quote_id === null ? [] : [{ quote_id, settlement_id, event }]);

export const onSettlementAccepted = (event: z.infer<Events['accepted']>) => transitionOf(event, 'accepted');

/** An authorization pays its quote until it is captured or voided. */
export const onSettlementAuthorized = (event: z.infer<Events['authorized']>) =>
  transitionOf(event, 'accepted');

/**
 * An extension pays its quote until the authorization that it extended has ended. How that ended is
 * asked (query-settlement.ts), because the events of an authorization name its own quote only.
 */
export const onSettlementExtended = ({
  extension_quote_id: quote_id,
  settlement_id,
}: z.infer<Events['extended']>) => transitionOf({ quote_id, settlement_id }, 'accepted');

export const onSettlementIssued = (event: z.infer<Events['issued']>) => transitionOf(event, 'issued');

/** No money moved, as after a failure. */
export const onSettlementVoided = (event: z.infer<Events['voided']>) => transitionOf(event, 'failed');

export const onSettlementFailed = (event: z.infer<Events['failed']>) => transitionOf(event, 'failed');

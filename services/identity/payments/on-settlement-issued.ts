import type { EventPayload } from '../../../shared/contract/events.ts';
import type { Payment } from './store.ts';

/** The payment of an event, which is counted and mailed. Its scope may be large. */
export const issued = ({ scope: _, ...payment }: EventPayload<'settlement.issued'>): Payment[] => [payment];

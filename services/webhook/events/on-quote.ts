import { toAccountEvents } from './record-events.ts';

export const expired = toAccountEvents('quote.expired');

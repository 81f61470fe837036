import { toAccountEvents } from './record-events.ts';

export const expired = toAccountEvents('quote.expired');
export const linkPaid = toAccountEvents('quote.linkPaid');

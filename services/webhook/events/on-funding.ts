import { toAccountEvents } from './record-events.ts';

export const withdrawalChanged = toAccountEvents('funding.withdrawalChanged');
export const refundChanged = toAccountEvents('funding.refundChanged');
export const depositChanged = toAccountEvents('funding.depositChanged');

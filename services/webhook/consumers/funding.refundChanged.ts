import { accountEventsOf } from '../account-events.ts';

export const refundChanged = accountEventsOf('funding.refundChanged');

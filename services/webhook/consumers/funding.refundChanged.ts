import { take } from '../take.ts';

export const refundChanged = take('funding.refundChanged');

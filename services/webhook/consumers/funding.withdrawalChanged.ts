import { take } from '../take.ts';

export const withdrawalChanged = take('funding.withdrawalChanged');

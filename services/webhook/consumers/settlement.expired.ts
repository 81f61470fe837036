import { take } from '../take.ts';

export const expired = take('settlement.expired');

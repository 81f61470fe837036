import { take } from '../take.ts';

export const redeemed = take('settlement.redeemed');

import { take } from '../take.ts';

export const reversed = take('settlement.reversed');

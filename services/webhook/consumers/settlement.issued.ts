import { take } from '../take.ts';

export const issued = take('settlement.issued');

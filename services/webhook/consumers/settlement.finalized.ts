import { take } from '../take.ts';

export const finalized = take('settlement.finalized');

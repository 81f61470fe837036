import { take } from '../take.ts';

export const accepted = take('settlement.accepted');

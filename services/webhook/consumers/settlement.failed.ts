import { take } from '../take.ts';

export const failed = take('settlement.failed');

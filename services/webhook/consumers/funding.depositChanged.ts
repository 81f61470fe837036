import { take } from '../take.ts';

export const depositChanged = take('funding.depositChanged');

import { take } from '../take.ts';

export const keyChanged = take('identity.keyChanged');

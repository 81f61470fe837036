import { take } from '../take.ts';

export const delegateChanged = take('identity.delegateChanged');

import { toAccountEvents } from './record-events.ts';

export const delegateChanged = toAccountEvents('identity.delegateChanged');
export const keyChanged = toAccountEvents('identity.keyChanged');

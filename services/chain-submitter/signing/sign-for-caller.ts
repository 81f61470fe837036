import { refuseCallerOn } from '../chain/read-for-caller.ts';
import { SignerUnavailable } from './signer.ts';

/**
 * Signs for a caller. While the key cannot be used, the caller gets a 503, and nothing has been
 * signed.
 */
export const signForCaller = refuseCallerOn(SignerUnavailable, 'nothing can be signed right now');

import type { Records } from '../../../shared/boot.ts';
import type { Terms } from '../terms.ts';
import { findKeys } from './find-keys.ts';
import { listKeys } from './list-keys.ts';
import { revealDelegateKey } from './reveal-delegate-key.ts';
import { revealServiceKey } from './reveal-service-key.ts';
import { rotateDelegateKey } from './rotate-delegate-key.ts';
import { rotateServiceKey } from './rotate-service-key.ts';
import { verifyDelegateReveal } from './verify-delegate-reveal.ts';
import { verifyServiceReveal } from './verify-service-reveal.ts';

/** The operations on keys. */
export const keyOperations = (deps: Records & Terms & { sendMailsNow: () => void }) => ({
  findKeys: findKeys(deps),
  listKeys: listKeys(deps),
  revealDelegateKey: revealDelegateKey(deps),
  revealServiceKey: revealServiceKey(deps),
  rotateDelegateKey: rotateDelegateKey(deps),
  rotateServiceKey: rotateServiceKey(deps),
  verifyDelegateReveal: verifyDelegateReveal(deps),
  verifyServiceReveal: verifyServiceReveal(deps),
});

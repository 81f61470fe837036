import { findKey } from './find-key.ts';
import { listKeys } from './list-keys.ts';
import { revealDelegateKey } from './reveal-delegate-key.ts';
import type { KeyRevealer } from './reveal-key.ts';
import { revealServiceKey } from './reveal-service-key.ts';
import { rotateDelegateKey } from './rotate-delegate-key.ts';
import type { KeyReplacer } from './rotate-key.ts';
import { rotateServiceKey } from './rotate-service-key.ts';
import { verifyDelegateReveal } from './verify-delegate-reveal.ts';
import { verifyServiceReveal } from './verify-service-reveal.ts';

/** The operations on keys, for main.ts and for the tests that serve them over a real bus. */
export const keyOperations = (deps: KeyReplacer & KeyRevealer & { cursorKeys: readonly Buffer[] }) => ({
  findKey: findKey(deps),
  listKeys: listKeys(deps),
  revealDelegateKey: revealDelegateKey(deps),
  revealServiceKey: revealServiceKey(deps),
  rotateDelegateKey: rotateDelegateKey(deps),
  rotateServiceKey: rotateServiceKey(deps),
  verifyDelegateReveal: verifyDelegateReveal(deps),
  verifyServiceReveal: verifyServiceReveal(deps),
});

import type { Keys } from '../../../sdk/src/checks/tokens.ts';

/**
 * Loads the public keys of the API, without the sign-in of whoever opens the page.
 * @throws Error if they cannot be loaded
 */
export const loadPublishedKeys = async (): Promise<Keys> => {
  const answer = await fetch('/.well-known/jwks.json?all=true', { credentials: 'omit' });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return ((await answer.json()) as { keys: Keys }).keys;
};

import { invalid } from '../../../shared/contract/errors.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';

/**
 * A body may name the environment of its access token and no other.
 * @throws ServiceError validation_error
 */
export const requireEnvironment = (
  deps: { environment: Environment },
  environment: Environment | undefined,
): void => {
  if (environment === undefined || environment === deps.environment) return;
  throw invalid('environment', 'not the environment of the access token');
};

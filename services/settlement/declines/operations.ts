import type { Records } from '../../../shared/boot.ts';
import type { ServiceTerms } from '../terms.ts';
import { listDeclines } from './list-declines.ts';

/** The operations of this noun. */
export const declineOperations = (deps: Pick<Records, 'reads'> & Pick<ServiceTerms, 'cursorKeys'>) => ({
  listDeclines: listDeclines(deps),
});

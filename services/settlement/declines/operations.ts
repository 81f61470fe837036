import { listDeclines } from './list-declines.ts';

/** The operations of this noun, for main.ts and for the tests that serve them over a real bus. */
export const declineOperations = (deps: Parameters<typeof listDeclines>[0]) => ({
  listDeclines: listDeclines(deps),
});

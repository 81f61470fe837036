/** The settings that handlers take. */
export type Terms = {
  cursorKeys: readonly Buffer[];
  /** How long a call waits for the chain before it answers with the state reached so far. */
  chainWaitMs: number;
  /** Whether this environment has a funding authority. */
  devFund: boolean;
};

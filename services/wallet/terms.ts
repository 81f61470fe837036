/** The settings that handlers take. */
export type Terms = {
  cursorKeys: readonly Buffer[];
  /** How long a call waits for the chain before it answers with the state reached so far. */
  chainWaitMs: number;
  /** The shortest pause between two polls of the watcher for one wallet. */
  watchEveryMs: number;
};

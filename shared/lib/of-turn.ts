/**
 * Divides a load of many into loads of at most so many.
 * @returns the answer of each input, in their order
 */
export const inParts =
  <I, T>(load: (inputs: readonly I[]) => Promise<readonly T[]>, most: number) =>
  (inputs: readonly I[]): Promise<T>[] => {
    // Async, so that a load that throws at once fails its callers too.
    const parts = Array.from({ length: Math.ceil(inputs.length / most) }, async (_, index) =>
      load(inputs.slice(index * most, (index + 1) * most)),
    );
    return inputs.map(async (_, index) => {
      const answers = await parts[Math.floor(index / most)]!;
      return answers[index % most]!;
    });
  };

/**
 * Loads the inputs of a turn of the event loop as one.
 * @param later runs the load after the turn. `process.nextTick` runs it before other events, as the
 *   simulation of the tests needs
 */
export const ofTurn = <I, T>(
  loadAll: (inputs: readonly I[]) => Promise<T>[],
  later: (run: () => void) => unknown = setImmediate,
): ((input: I) => Promise<T>) => {
  let asked: { input: I; resolve: (value: Promise<T>) => void }[] = [];
  const loadAsked = (): void => {
    const all = asked;
    asked = [];
    const values = loadAll(all.map(({ input }) => input));
    for (const [index, { resolve }] of all.entries()) resolve(values[index]!);
  };
  return (input) => {
    if (asked.length === 0) later(loadAsked);
    return new Promise<T>((resolve) => asked.push({ input, resolve }));
  };
};

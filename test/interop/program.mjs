/** What the programs of these folders share. They are separate processes of unmodified packages. */

/** The settings of a program: JSON, its first argument. */
export const settings = () => JSON.parse(process.argv[2] ?? '{}');

/** Prints one line of JSON, which test/support/others/interop.ts reads. */
export const print = (line) => void process.stdout.write(`${JSON.stringify(line)}\n`);

/**
 * Calls `pay` several times and prints a line for each result.
 * @param plan `times` (default 1), and `parallel` to begin all of them at once
 */
export const repeat = async ({ times = 1, parallel = false }, pay) => {
  const once = async (index) => {
    const startedAt = performance.now();
    const result = await pay(index).catch((error) => ({
      status: null,
      error: String(error?.message ?? error),
    }));
    print({ index, ms: Math.round(performance.now() - startedAt), ...result });
  };
  const indexes = Array.from({ length: times }, (_, index) => index);
  if (parallel) await Promise.all(indexes.map(once));
  else for (const index of indexes) await once(index);
};

/** The body of an answer: JSON, or text if it is none. */
export const bodyOf = async (response) => {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

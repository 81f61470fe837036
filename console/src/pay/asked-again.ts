import { useEffect } from 'react';

const AGAIN_MS = 2000;

/**
 * Asks every two seconds until the answer says what to do.
 * @param of what is asked about. Null: nothing is asked.
 * @param ask returns what is to be done with the outcome. Null: it is not known yet.
 */
export const useAskedAgain = (of: string | null, ask: () => Promise<(() => void) | null>): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it asks until one thing is known
  useEffect(() => {
    if (of === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const attempt = async (): Promise<void> => {
      const conclude = await ask();
      if (isOver) return;
      if (conclude === null) timer = setTimeout(() => void attempt(), AGAIN_MS);
      else conclude();
    };
    void attempt();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [of]);
};

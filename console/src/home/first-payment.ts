import { createTrial } from '../selling/trying/trial.ts';

/**
 * Pays one call of the account's own service: quote, check, settle, delivery. The page is buyer and
 * vendor, like the page “Try it”.
 * @param onStep called with the name of each step before it begins
 * @throws Error with the reason of the first step that failed
 */
export const payOnce = async ({
  service,
  serviceKey,
  accessToken,
  onStep,
}: {
  service: { service_id: string; price: string };
  serviceKey: string;
  accessToken: () => Promise<string>;
  onStep: (text: string) => void;
}): Promise<void> => {
  const trial = createTrial({
    baseUrl: location.origin,
    environment: 'test',
    service,
    serviceKey,
    payer: accessToken,
    onSecret: () => {},
  });
  for (const [run, text] of [
    ['ask', 'Getting the price…'],
    ['verify', 'Checking the quote…'],
    ['settle', 'Paying…'],
    ['call', 'Getting the delivery…'],
  ] as const) {
    onStep(text);
    const { problem } = await trial[run]();
    if (problem !== null) throw typeof problem === 'string' ? new Error(problem) : problem;
  }
};

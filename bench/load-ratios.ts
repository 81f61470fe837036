import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** Recorded loads of the services with lanes. The rule of their autoscalers is tested with them. */
const FILE = path.resolve(import.meta.dirname, 'load-ratios.json');

const Samples = z.strictObject({
  /** The sum of the used parts of a core over the owners of lanes, one value for each sample. */
  settlement: z.array(z.number().min(0)),
  'chain-submitter': z.array(z.number().min(0)),
});
export type LoadSamples = z.infer<typeof Samples>;

const Recorded = z.strictObject({
  command: z.string(),
  /** By payments a second. */
  rates: z.record(
    z.string(),
    z.strictObject({ measured: z.string(), everySeconds: z.number().positive(), samples: Samples }),
  ),
});

export const readLoads = (): z.infer<typeof Recorded> =>
  Recorded.parse(JSON.parse(readFileSync(FILE, 'utf8')));

/** Replaces what is recorded of a rate (`bench steady --write`). */
export const writeLoads = (perSecond: number, samples: LoadSamples, everySeconds: number): void => {
  const recorded = existsSync(FILE)
    ? readLoads()
    : { command: 'npm run prove -- bench steady --rates 30,100 --seconds 75 --write', rates: {} };
  const rounded = (values: readonly number[]) => values.map((value) => Number(value.toFixed(3)));
  recorded.rates[perSecond] = {
    measured: new Date().toISOString().slice(0, 10),
    everySeconds,
    samples: Samples.parse({
      settlement: rounded(samples.settlement),
      'chain-submitter': rounded(samples['chain-submitter']),
    }),
  };
  writeFileSync(FILE, `${JSON.stringify(recorded)}\n`);
};

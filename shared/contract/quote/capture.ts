import { z } from 'zod';
import { MicroUsdc, MicroUsdcOrZero } from '../primitives.ts';

/** The shortest and the longest time in which use is reported and captured. */
export const CAPTURE_WINDOW_SECONDS = { least: 60, most: 604_800, default: 3600 } as const;

export const captureWindow = z
  .int()
  .min(CAPTURE_WINDOW_SECONDS.least)
  .max(CAPTURE_WINDOW_SECONDS.most)
  .meta({
    description: 'Seconds from the authorization in which use can be reported and captured',
    examples: [CAPTURE_WINDOW_SECONDS.default],
  });

export const unitPrice = MicroUsdc.meta({
  description: 'What one unit costs, for use that is reported in units',
  examples: ['250'],
});

/** When a part of a signed ceiling is paid, and on what terms. A quote token binds them. */
export const CaptureTerms = z
  .strictObject({
    mode: z.enum(['manual', 'usage']).meta({
      description:
        'manual: the vendor captures an amount up to the ceiling. usage: the sum of what was reported is captured',
    }),
    window_seconds: captureWindow,
    unit_price: unitPrice.nullable(),
    threshold: MicroUsdc.nullable().meta({
      description: 'Reported use that is captured at once, before the window ends. Null: none',
      examples: ['1000000'],
    }),
    fee: z
      .strictObject({
        bps: z
          .int()
          .min(0)
          .max(10_000)
          .meta({
            description: 'Part of the captured amount, in hundredths of a percent',
            examples: [50],
          }),
        min: MicroUsdcOrZero.meta({ description: 'The smallest fee', examples: ['10000'] }),
      })
      .meta({
        id: 'CaptureFee',
        description:
          'The fee is the larger of the two, computed on what is captured. Use that does not exceed it is not ' +
          'captured, and is void when the window ends',
      }),
  })
  .meta({ id: 'CaptureTerms', description: 'How a part of the ceiling is captured' });
export type CaptureTerms = z.infer<typeof CaptureTerms>;

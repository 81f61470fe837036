import { z } from 'zod';
import { serviceConfig } from '../../shared/lib/config.ts';

export const config = z.object({
  ...serviceConfig,
  /** True where chain-submitter holds a funding authority; elsewhere dev/fund does not exist (404). */
  DEV_FUND: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
});

import { z } from 'zod';
import { SecretBytes, serviceConfig } from '../../shared/lib/config.ts';

export const config = z.object({ ...serviceConfig, CURSOR_KEY: SecretBytes });

import { openBase, runService } from '../../shared/boot.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { config as schema } from './config.ts';
import { createService } from './service.ts';

const config = loadConfig(schema);
const base = await openBase('webhook', config);
await runService(base, createService(base, config));

import { openBase, runService } from '../../shared/boot.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { config as schema } from './config.ts';
import { createPeers } from './peers.ts';
import { createService } from './service.ts';

const config = loadConfig(schema);
const base = await openBase('funding', config);
await runService(base, createService(base, config, createPeers(base.bus)));

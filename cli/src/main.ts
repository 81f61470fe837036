#!/usr/bin/env node
import { useProxies } from '../../sdk/src/programs/proxies.ts';
import { systemIo } from './io.ts';
import { run } from './run.ts';

await useProxies(process.env, () => import('undici'));
process.exitCode = await run(process.argv.slice(2), systemIo());
// A listener for Ctrl-C or an idle connection must not hold the process.
process.stdout.write('', () => process.exit());

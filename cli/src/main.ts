#!/usr/bin/env node
import { systemIo } from './io.ts';
import { useProxies } from './proxies.ts';
import { run } from './run.ts';

await useProxies(process.env);
process.exitCode = await run(process.argv.slice(2), systemIo());
// A listener for Ctrl-C or an idle connection must not hold the process.
process.stdout.write('', () => process.exit());

// Starts a service in the version that a file names: the folder of its programs. The file is read
// at each start, so a restart is an upgrade or the way back. Its failpoints can be armed by files
// of a folder.
//   node start.mjs <file> <service> <folder of failpoints>
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, service, failpoints] = process.argv.slice(2);
const folder = readFileSync(file, 'utf8').trim();
const preload = pathToFileURL(path.join(folder, 'test/faults/preloads/armed-failpoints.js'));
preload.searchParams.set('folder', failpoints);
await import(preload.href);
await import(pathToFileURL(path.join(folder, 'services', service, 'main.js')).href);

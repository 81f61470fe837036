// Runs before `npm start` and `npm test`. It installs what is missing, and takes a fraction of a
// second if nothing is missing. It runs on the Node of a fresh machine (20 or newer) before
// node_modules exists, so it imports nothing from there.
//   --start        what `npm start` needs, instead of all packages
//   --no-servers   neither servers nor the pages
//   --keep-used    no packages while a stack runs from the present ones
import { repositoryRoot } from './servers/binaries.mjs';
import { ensureCommands } from './setup/commands.mjs';
import { ensureFastapi } from './setup/fastapi.mjs';
import { ensureNodeModules } from './setup/modules.mjs';
import { exitOnSignals } from './setup/npm.mjs';
import { ensurePages } from './setup/pages.mjs';
import { extractPrometheus } from './setup/prometheus.mjs';
import { ensureProxies } from './setup/proxies.mjs';
import { ensureServers } from './setup/servers.mjs';
import { ensureSofthsm } from './setup/softhsm.mjs';
import { ensureUpstreams } from './setup/upstreams.mjs';

const say = (line) => console.log(`set-up: ${line}`);
const given = (option) => process.argv.includes(option);
const withServers = !given('--no-servers');

exitOnSignals();

const modulesAndPages = async () => {
  await ensureNodeModules(repositoryRoot, say, {
    forStart: given('--start'),
    keepUsed: given('--keep-used'),
  });
  ensureCommands(repositoryRoot);
  if (withServers) await ensurePages(say);
};

try {
  // A package manager is not stopped in the middle, so that each ends before a failure counts.
  const results = await Promise.allSettled([withServers ? ensureServers(say) : undefined, modulesAndPages()]);
  for (const { reason } of results) if (reason) throw reason;
  if (given('--prometheus')) extractPrometheus(say);
  if (given('--softhsm')) ensureSofthsm(say);
  if (given('--proxies')) ensureProxies(say);
  if (given('--fastapi')) ensureFastapi(say);
  if (given('--upstreams')) ensureUpstreams(say);
} catch (error) {
  console.error(`set-up failed: ${error.message}`);
  process.exit(1);
}

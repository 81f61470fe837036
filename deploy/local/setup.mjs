// The set-up of every command. It installs what is missing, and takes a fraction of a second if
// nothing is missing. It runs on the Node of a fresh machine (20 or newer) before node_modules
// exists, so it imports nothing from there.
import { repositoryRoot } from './servers/binaries.mjs';
import { ensureCommands } from './setup/commands.mjs';
import { ensureFastapi } from './setup/fastapi.mjs';
import { ensureLocked } from './setup/locked-folder.mjs';
import { ensureNodeModules } from './setup/modules.mjs';
import { exitOnSignals } from './setup/npm.mjs';
import { ensurePages } from './setup/pages.mjs';
import { extractPrometheus } from './setup/prometheus.mjs';
import { ensureProxies } from './setup/proxies.mjs';
import { ensureServers } from './setup/servers.mjs';
import { ensureSofthsm } from './setup/softhsm.mjs';
import { ensureUpstreams } from './setup/upstreams.mjs';

/** To stderr, because the output of some commands is read by programs. */
const say = (line) => console.error(`set-up: ${line}`);

/**
 * Installs what a command needs (`SetUp` in tools/doors.d.mts). A failure ends the process with 1.
 */
export async function setUp({ forStart, keepUsed, servers, locked, ...optional }) {
  exitOnSignals();
  const modulesAndPages = async () => {
    await ensureNodeModules(repositoryRoot, say, { forStart, keepUsed });
    ensureCommands(repositoryRoot);
    if (servers) await ensurePages(say);
  };
  try {
    // A package manager is not stopped in the middle, so that each ends before a failure counts.
    const results = await Promise.allSettled([servers ? ensureServers(say) : undefined, modulesAndPages()]);
    for (const { reason } of results) if (reason) throw reason;
    if (locked) await ensureLocked(locked, say);
    if (optional.prometheus) extractPrometheus(say);
    if (optional.softhsm) ensureSofthsm(say);
    if (optional.proxies) ensureProxies(say);
    if (optional.fastapi) ensureFastapi(say);
    if (optional.upstreams) ensureUpstreams(say);
  } catch (error) {
    console.error(`set-up failed: ${error.message}`);
    process.exit(1);
  }
}

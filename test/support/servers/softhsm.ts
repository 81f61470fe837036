import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import { findBinary, unpackedDir } from '../../../deploy/local/servers/binaries.mjs';
import { privateKeyFromSeed } from '../../../shared/lib/chain/ed25519.ts';

const MODULE = 'softhsm/libsofthsm2.so';
const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const folders = ['/usr/lib', `/usr/lib/${multiarch}`, '/usr/local/lib', '/opt/homebrew/lib'];

const util = findBinary('softhsm2-util');
const modulePath = [...folders.map((folder) => path.join(unpackedDir, folder)), ...folders]
  .map((folder) => path.join(folder, MODULE))
  .find(existsSync);

/** Whether SoftHSM is on this machine (deploy/local/setup/softhsm.mjs). */
export const hasSofthsm = util !== undefined && modulePath !== undefined;
if (!hasSofthsm)
  console.warn(
    'SoftHSM is not on this machine, so the tests of PKCS#11 tokens are skipped: install softhsm2',
  );

const SO_PIN = 'so-pin-5190';

const moveAll = (from: string, to: string): void => {
  for (const name of readdirSync(from)) renameSync(path.join(from, name), path.join(to, name));
};

/** Tokens of SoftHSM in a folder of their own. */
export const createSofthsm = () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'softhsm-'));
  const [tokens, absent, file] = ['tokens', 'absent', 'softhsm2.conf'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  for (const each of [tokens, absent]) mkdirSync(each);
  writeFileSync(file, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`);
  const run = (...args: string[]) =>
    execFileSync(util!, ['--module', modulePath!, ...args], {
      env: { PATH: process.env.PATH, SOFTHSM2_CONF: file },
      stdio: 'pipe',
    });
  let imported = 0;
  const importKey = (token: string, pin: string, object: string, pem: string) => {
    imported += 1;
    const from = path.join(folder, `${imported}.pem`);
    writeFileSync(from, pem);
    const names = ['--label', object, '--id', imported.toString(16).padStart(2, '0')];
    run('--import', from, '--token', token, '--pin', pin, ...names);
    rmSync(from);
  };

  return {
    folder,
    modulePath: modulePath!,
    /** The variable that names the tokens to the module. */
    env: { SOFTHSM2_CONF: file },
    /**
     * Has modules of this process use these tokens. jest's process.env is a copy, so the C library
     * is called.
     */
    useHere: async (): Promise<void> => {
      const { default: koffi } = await import('koffi');
      koffi.load(null).func('setenv', 'int', ['str', 'str', 'int'])('SOFTHSM2_CONF', file, 1);
    },
    /** Creates a token. @returns the file of its PIN */
    createToken: (token: string, pin: string): string => {
      run('--init-token', '--free', '--label', token, '--so-pin', SO_PIN, '--pin', pin);
      const pinFile = path.join(folder, `${token}.pin`);
      writeFileSync(pinFile, `${pin}\n`, { mode: 0o600 });
      return pinFile;
    },
    /** Imports a key of Solana's 64 bytes in base58. It cannot be extracted afterwards. */
    importSecretKey: (token: string, pin: string, object: string, secretKey: string): void => {
      const key = privateKeyFromSeed(bs58.decode(secretKey).subarray(0, 32));
      importKey(token, pin, object, key.export({ format: 'pem', type: 'pkcs8' }).toString());
    },
    importRsaKey: (token: string, pin: string, object: string): void => {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      importKey(token, pin, object, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    },
    /** Removes every token, as a device that is unplugged. */
    unplug: (): void => moveAll(tokens, absent),
    plug: (): void => moveAll(absent, tokens),
    remove: (): void => rmSync(folder, { recursive: true, force: true }),
  };
};
export type Softhsm = ReturnType<typeof createSofthsm>;

import { randomBytes } from 'node:crypto';
import type { Logger } from '../../../../shared/lib/telemetry/logger.ts';
import { outgoingSigner, type Signer } from '../signer.ts';
import { type Cryptoki, loadCryptoki } from './cryptoki.ts';
import { checkPrivateKey, findPrivateKey, keyName, readAddress } from './key.ts';
import type { KeyUri } from './key-uri.ts';
import { createLimit } from './limit.ts';
import { createModule, type Pkcs11Module } from './module.ts';
import { createToken, nameOf, type Token } from './token.ts';

type Defaults = { modulePath: string | undefined; pinFile: string | undefined };
type Deps = {
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  load?: (file: string) => Promise<Cryptoki>;
  /** How long a signature may take before its caller is refused. */
  signWithinMs?: number;
};

/**
 * Calls of modules at the same time. libuv has four threads by default, which files and name
 * lookups need too. A token that does not answer must not occupy all of them.
 */
const CALLS_AT_ONCE = 3;
const SIGN_WITHIN_MS = 5000;
const OPEN_WITHIN_MS = 30_000;
/** A signature after an error is repeated once: its session may just have lapsed. */
const TRIES = 2;

/** A module has one state in a process, whoever opens it. */
const modulesOf = new WeakMap<typeof loadCryptoki, Map<string, Pkcs11Module>>();

/** Keys of one token share its sessions and its login. */
const createTokens = (defaults: Defaults, load: (file: string) => Promise<Cryptoki>) => {
  const modules = modulesOf.get(load) ?? new Map<string, Pkcs11Module>();
  modulesOf.set(load, modules);
  const tokens = new Map<string, Token>();
  return (uri: KeyUri): Token => {
    const modulePath = uri.modulePath ?? defaults.modulePath;
    const pinFile = uri.pinFile ?? defaults.pinFile;
    if (modulePath === undefined)
      throw new Error(
        `The key ${keyName(uri)} has no module. Set PKCS11_MODULE, or add module-path= to its URI.`,
      );
    if (pinFile === undefined)
      throw new Error(
        `The key ${keyName(uri)} has no PIN. Set PKCS11_PIN_FILE, or add pin-source= to its URI.`,
      );
    const module = modules.get(modulePath) ?? createModule(() => load(modulePath));
    modules.set(modulePath, module);
    const name = JSON.stringify([modulePath, pinFile, nameOf(uri.token)]);
    const token = tokens.get(name) ?? createToken(module, { token: uri.token, pinFile });
    tokens.set(name, token);
    return token;
  };
};

/** Signs with a key of a token. The key's handle is found again when the token was reopened. */
const signWith =
  (uri: KeyUri, token: Token) =>
  (message: Uint8Array): Promise<Uint8Array> =>
    token.withSession(async (at) => {
      const name = keyName(uri);
      const key = at.handles.get(name) ?? (await findPrivateKey(uri, at));
      at.handles.set(name, key);
      return at.cryptoki.sign(at.session, key, message);
    });

const repeated = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1)
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES) throw error;
    }
};

/** Logs when a key stops and starts to sign, and not each failure in between. */
const withLog = (name: string, sign: Signer['sign'], { logger }: Deps): Signer['sign'] => {
  let isAvailable = true;
  return async (message) => {
    try {
      const signature = await sign(message);
      if (!isAvailable) logger.info({ key: name }, 'key of the token signs again');
      isAvailable = true;
      return signature;
    } catch (error) {
      if (isAvailable) logger.error({ err: error, key: name }, 'key of the token cannot sign, work waits');
      isAvailable = false;
      throw error;
    }
  };
};

/**
 * Opens keys of PKCS#11 tokens, checks each, and has it sign a random text.
 * @returns a function that opens one key
 * @throws Error with a message for the operator; no message contains a PIN
 */
export const createKeyOpener = (defaults: Defaults, deps: Deps) => {
  const { logger, load = loadCryptoki, signWithinMs = SIGN_WITHIN_MS } = deps;
  const tokenOf = createTokens(defaults, load);
  const limit = createLimit(CALLS_AT_ONCE);

  return async (uri: KeyUri): Promise<Signer> => {
    const token = tokenOf(uri);
    const name = keyName(uri);
    const inspect = () =>
      token.withSession(async (at) => {
        const key = await findPrivateKey(uri, at);
        const warnings = await checkPrivateKey(uri, at, key);
        return { warnings, publicKey: await readAddress(uri, at, key) };
      });
    const { warnings, publicKey } = await limit(inspect, OPEN_WITHIN_MS);
    for (const warning of warnings) logger.warn({ key: name }, warning);
    const sign = signWith(uri, token);
    const signer = outgoingSigner(publicKey, (message) =>
      limit(() => repeated(() => sign(message)), signWithinMs),
    );
    // No transaction begins with these bytes: 113 signatures do not fit into one.
    await signer.sign(Buffer.concat([Buffer.from('quittance key check '), randomBytes(32)]));
    logger.info({ key: name, address: publicKey }, 'key of a token opened');
    return { publicKey, sign: withLog(name, signer.sign, deps) };
  };
};

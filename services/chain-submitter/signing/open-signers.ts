import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import type { ConfiguredKey, NumberedKey } from './key-settings.ts';
import type { Signer, Signers } from './signer.ts';

type KeySettings = {
  FEE_PAYER_KEYS: readonly NumberedKey[];
  /** Newest first. */
  DELEGATE_AUTHORITY_KEYS: readonly NumberedKey[];
  FUNDING_AUTHORITY_KEY?: ConfiguredKey | undefined;
  PKCS11_MODULE?: string | undefined;
  PKCS11_PIN_FILE?: string | undefined;
};

type OpenedSigners = Signers & {
  /** The configured number of each fee payer and delegate authority, by address. */
  numbers: ReadonlyMap<string, number>;
};

/**
 * The signers of the configured keys. Keys on tokens are opened and checked. The code for tokens is
 * loaded only when a key needs it.
 * @throws Error with a message for the operator
 */
export const openSigners = async (settings: KeySettings, logger: Logger): Promise<OpenedSigners> => {
  const { FEE_PAYER_KEYS, DELEGATE_AUTHORITY_KEYS, FUNDING_AUTHORITY_KEY: funding } = settings;
  const numbered = [...FEE_PAYER_KEYS, ...DELEGATE_AUTHORITY_KEYS];
  const all = [...numbered.map(({ key }) => key), ...(funding === undefined ? [] : [funding])];
  const openKey = all.some((key) => 'uri' in key) ? await opener(settings, logger) : null;
  const signers = new Map<ConfiguredKey, Signer>();
  // One after the other, so that the error names the first key that is wrong.
  for (const key of all) signers.set(key, 'signer' in key ? key.signer : await openKey!(key.uri));

  const addresses = [...signers.values()].map(({ publicKey }) => publicKey);
  const repeated = addresses.find((address, index) => addresses.indexOf(address) !== index);
  // A fee payer that is also an authority would move tokens in any transaction whose fee it pays.
  if (repeated !== undefined)
    throw new Error(`Two configured keys are the key ${repeated}. Every key must be different.`);
  const ofKeys = (keys: readonly NumberedKey[]) => keys.map(({ key }) => signers.get(key)!);
  return {
    feePayers: ofKeys(FEE_PAYER_KEYS),
    delegateAuthorities: ofKeys(DELEGATE_AUTHORITY_KEYS),
    fundingAuthority: funding === undefined ? null : signers.get(funding)!,
    numbers: new Map(numbered.map(({ number, key }) => [signers.get(key)!.publicKey, number])),
  };
};

const opener = async ({ PKCS11_MODULE, PKCS11_PIN_FILE }: KeySettings, logger: Logger) => {
  const { createKeyOpener } = await import('./pkcs11/open.ts');
  return createKeyOpener({ modulePath: PKCS11_MODULE, pinFile: PKCS11_PIN_FILE }, { logger });
};

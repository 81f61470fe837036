import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { waitFor } from '../../../../test/support/base/wait.ts';
import { createSofthsm, hasSofthsm, type Softhsm } from '../../../../test/support/servers/softhsm.ts';
import { keySigner, SignerUnavailable } from '../signer.ts';
import { loadCryptoki } from './cryptoki.ts';
import { parseKeyUri } from './key-uri.ts';
import { createKeyOpener } from './open.ts';

/** The binding against a real module: SoftHSM of the distribution's packages. */
const PIN = 'user-pin-4711';
const keyPair = () => {
  const { publicKey, secretKey } = Keypair.generate();
  return { address: publicKey.toBase58(), secretKey: bs58.encode(secretKey) };
};
const [payer, authority] = [keyPair(), keyPair()];
const message = Buffer.from('a message');
let softhsm: Softhsm;
let pinFile = '';

const opener = (from: { modulePath?: string; pinFile?: string } = {}) => {
  const lines: string[] = [];
  const line = (...args: unknown[]) => void lines.push(JSON.stringify(args));
  const logger = { info: line, warn: line, error: line } as never;
  const open = createKeyOpener({ modulePath: softhsm.modulePath, pinFile, ...from }, { logger });
  return { lines, open: (uri: string) => open(parseKeyUri(uri)) };
};

(hasSofthsm ? describe : describe.skip)('SoftHSM', () => {
  beforeAll(async () => {
    softhsm = createSofthsm();
    pinFile = softhsm.createToken('quittance', PIN);
    softhsm.importSecretKey('quittance', PIN, 'fee-payer-1', payer.secretKey);
    softhsm.importSecretKey('quittance', PIN, 'authority-1', authority.secretKey);
    softhsm.importRsaKey('quittance', PIN, 'rsa');
    await softhsm.useHere();
  });
  afterAll(() => softhsm.remove());

  test('a key of the token signs like the same key in memory, also when many signatures are wanted at once', async () => {
    const { lines, open } = opener();
    const signers = [
      [await open('pkcs11:token=quittance;object=fee-payer-1'), keySigner(payer.secretKey)],
      [await open('pkcs11:token=quittance;id=%02'), keySigner(authority.secretKey)],
    ] as const;
    expect(signers.map(([signer]) => signer.publicKey)).toEqual([payer.address, authority.address]);
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const [onToken, inMemory] = signers[index % 2]!;
        const text = Buffer.from(`message ${index}`.repeat(index + 1));
        expect(bs58.encode(await onToken.sign(text))).toBe(bs58.encode(await inMemory.sign(text)));
      }),
    );
    expect(lines.join()).toMatch(/was imported/);
    expect(lines.join()).not.toContain(PIN);
  });

  test('what is wrong is named: the module, the token, the key, its type, the PIN', async () => {
    const key = 'pkcs11:token=quittance;object=fee-payer-1';
    softhsm.createToken('second', 'another-pin');
    const cases: [Parameters<typeof opener>[0], string, RegExp][] = [
      [{ modulePath: '/nowhere.so' }, key, /module \/nowhere\.so cannot be loaded/],
      [{ modulePath: process.execPath }, key, /cannot be loaded/],
      [{ pinFile: '/nowhere' }, key, /PIN \/nowhere cannot be read/],
      [
        {},
        'pkcs11:token=other;object=a',
        /No token is token=other\. The module has the tokens .*"quittance"/,
      ],
      [{}, 'pkcs11:token=quittance;object=other', /no private key token=quittance;object=other/],
      [{}, 'pkcs11:token=quittance;object=rsa', /is an RSA key/],
      [
        {},
        'pkcs11:token=second;object=a',
        /token=second refused the PIN \(C_Login returned CKR_PIN_INCORRECT\)/,
      ],
    ];
    for (const [from, uri, expected] of cases) {
      const { open } = opener(from);
      // An error is reported for a second, before the token is opened again.
      const text = await waitFor(
        () => open(uri).then(String, (error: Error) => error.message),
        (refusal) => expected.test(refusal),
        10_000,
        50,
      );
      expect(text).not.toContain(PIN);
    }
  });

  test('an unplugged token is refused, and signs again when it is back', async () => {
    const signer = await opener().open('pkcs11:token=quittance;object=fee-payer-1');
    softhsm.unplug();
    try {
      await expect(signer.sign(message)).rejects.toThrow(SignerUnavailable);
      await expect(signer.sign(message)).rejects.toThrow(/No token is token=quittance/);
    } finally {
      softhsm.plug();
    }
    const signature = await waitFor(
      () => signer.sign(message).catch(() => null),
      (each) => each !== null,
      10_000,
      50,
    );
    expect(Buffer.from(signature!)).toEqual(Buffer.from(await keySigner(payer.secretKey).sign(message)));
  });

  test('a module that was finalised by other code is initialised again', async () => {
    const signer = await opener().open('pkcs11:token=quittance;object=authority-1');
    await (await loadCryptoki(softhsm.modulePath)).finalize();
    expect(await signer.sign(message)).toHaveLength(64);
  });
});

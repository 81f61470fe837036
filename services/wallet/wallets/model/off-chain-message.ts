/**
 * Solana's envelope of a text that a wallet signs off-chain. A hardware wallet signs nothing else,
 * so that no text can be a transaction (solana.com, "Off-chain message signing").
 */

const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
/** ASCII on one line, UTF-8 of the length that a Ledger shows, UTF-8. Wallets choose one. */
const FORMATS = [0, 1, 2];
/** The domain of an application that has none, which wallets send. */
const NO_APPLICATION = Buffer.alloc(32);

const byte = (value: number): Buffer => Buffer.of(value);

const lengthOf = (text: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(text.length);
  return length;
};

/**
 * What a wallet may have signed for a text: the envelopes of version 1, of version 0, and of
 * version 0 in its first form, which older apps of Ledger require. All hold the whole text and
 * nothing else that a signer chooses.
 * @param text at most 65535 bytes
 * @param signer the 32 bytes of the only signer
 */
export const offChainEnvelopes = (text: Buffer, signer: Uint8Array): Buffer[] => {
  const oneSigner = Buffer.concat([byte(1), signer]);
  return [
    Buffer.concat([SIGNING_DOMAIN, byte(1), oneSigner, text]),
    ...FORMATS.flatMap((format) => {
      const content = Buffer.concat([lengthOf(text), text]);
      return [
        Buffer.concat([SIGNING_DOMAIN, byte(0), NO_APPLICATION, byte(format), oneSigner, content]),
        Buffer.concat([SIGNING_DOMAIN, byte(0), byte(format), content]),
      ];
    }),
  ];
};

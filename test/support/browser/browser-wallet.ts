import type { Keypair } from '@solana/web3.js';

/** RFC 8410: the bytes before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8_PREFIX = '302e020100300506032b657004220420';

/**
 * A script that adds a wallet of the Wallet Standard to a page, as an extension does. It signs with
 * this key without confirmation. `context.addInitScript(walletScript(keypair))`.
 * @param options `signer`: a function of the page that signs a base64 transaction instead, or
 *   refuses to (`context.exposeFunction`). `next`: the account that the wallet shows after the
 *   first connection
 */
export const walletScript = (
  keypair: Keypair,
  { name = 'Test Wallet', signer, next }: { name?: string; signer?: string; next?: Keypair } = {},
): string => {
  const pkcs8 = `${PKCS8_PREFIX}${Buffer.from(keypair.secretKey.slice(0, 32)).toString('hex')}`;
  const options = {
    name,
    pkcs8,
    address: keypair.publicKey.toBase58(),
    publicKey: [...keypair.publicKey.toBytes()],
    signer: signer ?? null,
    next: next === undefined ? null : next.publicKey.toBase58(),
  };
  return `(${inPage.toString()})(${JSON.stringify(options)})`;
};

/** Runs in the page, so it has no access to the variables of this module. */
const inPage = (options: {
  name: string;
  pkcs8: string;
  address: string;
  publicKey: number[];
  signer: string | null;
  next: string | null;
}) => {
  const publicKey = Uint8Array.from(options.publicKey);
  const der = Uint8Array.from(options.pkcs8.match(/../g)!, (pair) => Number.parseInt(pair, 16));
  const sign = async (bytes: Uint8Array<ArrayBuffer>) => {
    const key = await crypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('Ed25519', key, bytes));
  };
  const features = ['solana:signMessage', 'solana:signTransaction'] as const;
  const account = { address: options.address, publicKey, chains: ['solana:devnet'], features };
  let connections = 0;
  const accountNow = () => {
    connections += 1;
    return connections > 1 && options.next !== null ? { ...account, address: options.next } : account;
  };
  const signElsewhere = async (transaction: Uint8Array) => {
    const sign = (globalThis as unknown as Record<string, (text: string) => Promise<string>>)[
      options.signer!
    ]!;
    const answer = await sign(btoa(String.fromCharCode(...transaction)));
    return Uint8Array.from(atob(answer), (character) => character.charCodeAt(0));
  };
  type Message = { message: Uint8Array<ArrayBuffer> };
  type Transaction = { transaction: Uint8Array<ArrayBuffer> };
  const wallet = {
    version: '1.0.0',
    name: options.name,
    icon: 'data:image/svg+xml;base64,PHN2Zy8+',
    chains: ['solana:devnet'],
    accounts: [account],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [accountNow()] }) },
      'solana:signMessage': {
        version: '1.1.0',
        signMessage: (...inputs: Message[]) =>
          Promise.all(
            inputs.map(async ({ message }) => ({ signedMessage: message, signature: await sign(message) })),
          ),
      },
      'solana:signTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        signTransaction: (...inputs: Transaction[]) =>
          Promise.all(
            inputs.map(async ({ transaction }) => {
              if (options.signer !== null) return { signedTransaction: await signElsewhere(transaction) };
              const signedTransaction = transaction.slice();
              const message = transaction.slice(1 + 64 * transaction[0]!);
              // A message of version 0 begins with its version.
              const header = message[0]! >= 128 ? 1 : 0;
              const isOurs = (slot: number) =>
                publicKey.every((byte, at) => byte === message[header + 4 + 32 * slot + at]);
              const slot = Array.from({ length: message[header]! }, (_, at) => at).find(isOurs)!;
              signedTransaction.set(await sign(message), 1 + 64 * slot);
              return { signedTransaction };
            }),
          ),
      },
    },
  };
  const register = ({ register: to }: { register: (wallet: object) => void }) => to(wallet);
  const page = globalThis as unknown as {
    dispatchEvent: (event: CustomEvent) => void;
    addEventListener: (name: string, listener: (event: CustomEvent) => void) => void;
  };
  page.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
  page.addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail));
};

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Keypair,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import express from 'express';
import type { Vendor } from '../../../deploy/local/seed/actors.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { paid } from '../../../sdk/src/paywall/adapters/express.ts';
import { x402 } from '../../../sdk/src/paywall/dialects/x402.ts';
import { createPaywall, memoryStore, type PaywallOptions } from '../../../sdk/src/paywall/main.ts';
import { privateKeyFromSeed, signBytes } from '../../../shared/lib/chain/ed25519.ts';
import { walletScript } from './browser-wallet.ts';
import type { ConsolePage, openConsole } from './console.ts';
import type { consoleSuite } from './console-suite.ts';

/**
 * A vendor that sells a page to people, and the wallets with which they pay.
 * @param options of its paywall, beside those that every paywall has
 */
export const startPageVendor = async (
  { gateway_url }: Stack,
  { apiKey, serviceId }: Vendor,
  options: Pick<PaywallOptions, 'dialects'> = {
    dialects: [x402({ secret: 'a secret of the vendor, 32 or more' })],
  },
) => {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paywall = createPaywall({
    baseUrl: gateway_url,
    ...{ serviceKey: apiKey, serviceId, environment: 'test', publicUrl, store: memoryStore() },
    ...options,
  });
  /** The addresses for which the handler ran. */
  const runs: string[] = [];
  app.get('/report', paid(paywall, { price: '$0.05' }), (request, response) => {
    runs.push(request.originalUrl);
    response.send('<!doctype html><html lang="en"><title>Report</title><h1>All is well</h1></html>');
  });
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `${publicUrl}/report`, runs, stop };
};

/** Signs as a wallet that changes the instructions before its signature. */
export const signChanged =
  (keypair: Keypair, change: (built: TransactionInstruction[]) => TransactionInstruction[]) =>
  (wire: string): string => {
    const { message } = VersionedTransaction.deserialize(Buffer.from(wire, 'base64'));
    const { payerKey, recentBlockhash, instructions } = TransactionMessage.decompile(message);
    const changed = new TransactionMessage({
      ...{ payerKey, recentBlockhash },
      instructions: change(instructions),
    });
    const transaction = new VersionedTransaction(changed.compileToV0Message());
    transaction.sign([keypair]);
    return Buffer.from(transaction.serialize()).toString('base64');
  };

/** Signs with another key than that of the account, and puts it in the slot of the account. */
export const signAsOther =
  (other: Keypair) =>
  (wire: string): string => {
    const transaction = VersionedTransaction.deserialize(Buffer.from(wire, 'base64'));
    const key = privateKeyFromSeed(other.secretKey.subarray(0, 32));
    transaction.signatures[1] = signBytes(transaction.message.serialize(), key);
    return Buffer.from(transaction.serialize()).toString('base64');
  };

type Options = Parameters<typeof openConsole>[2] & {
  wallet?: Keypair;
  /** The account to which the wallet changes. */
  next?: Keypair;
  signer?: (wire: string) => string;
};

/** Opens pages whose browser has a wallet of the Wallet Standard. */
export const openerWithWallet =
  (suite: ReturnType<typeof consoleSuite>) =>
  async ({ wallet, next, signer, ...options }: Options = {}): Promise<ConsolePage> => {
    const page = await suite.opened(options);
    if (signer !== undefined) await page.context.exposeFunction('signByTest', signer);
    if (wallet !== undefined)
      await page.context.addInitScript(
        walletScript(wallet, {
          ...(signer !== undefined && { signer: 'signByTest' }),
          ...(next !== undefined && { next }),
        }),
      );
    return page;
  };

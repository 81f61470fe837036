import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { CoinbaseConfig, createCoinbase } from '../../services/funding/deposits/providers/coinbase.ts';
import { createMoonpay, MoonpayConfig } from '../../services/funding/deposits/providers/moonpay.ts';
import type { Onramp, Report } from '../../services/funding/deposits/providers/onramp.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { newId } from '../../shared/lib/id.ts';
import { anyOrChanged, changedJson } from './mutations.ts';
import { hmac } from './signed.ts';
import { hold, refusing, type Target, target } from './target.ts';

/** Webhooks of on-ramps: their signatures, and bodies behind valid signatures. */

const NOW = Date.now();
const SECONDS = String(Math.floor(NOW / 1000));
const KEY = 'a key of webhooks';
const DEPOSIT = newId('dep');
const OWNER = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const HASH = '5'.repeat(88);

const moonpay = createMoonpay(
  MoonpayConfig.parse({
    widget_url: 'https://buy-sandbox.moonpay.com/',
    api_url: 'https://api.moonpay.com',
    ...{ publishable_key: 'pk', secret_key: 'sk', webhook_key: KEY },
  }),
  () => NOW,
);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const coinbase = createCoinbase(
  CoinbaseConfig.parse({
    api_url: 'https://api.cdp.coinbase.com/platform',
    status_url: 'https://api.developer.coinbase.com/onramp',
    key_id: 'k',
    key_secret: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    webhook_secret: KEY,
  }),
  () => NOW,
);

const ofMoonpay = {
  type: 'transaction_updated',
  data: {
    id: 'mp-1',
    status: 'completed',
    externalTransactionId: DEPOSIT,
    quoteCurrencyAmount: 48.5,
    walletAddress: OWNER,
    cryptoTransactionId: HASH,
    failureReason: null,
    currency: { code: 'usdc_sol' },
  },
};
const ofCoinbase = {
  eventType: 'onramp.transaction.success',
  transactionId: 't1',
  status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS',
  partnerUserRef: DEPOSIT,
  purchaseAmount: { currency: 'USDC', value: '48.5' },
  purchaseNetwork: 'solana',
  walletAddress: OWNER,
  txHash: HASH,
};

const LARGEST = 2n ** 63n - 1n;

/** Postgres stores what is reported: it has no NUL, and its integers have 64 bits. */
const storable = ({ depositId, transactionId, providerStatus, amountMicro, txHash }: Report): void => {
  const texts = [depositId, transactionId, providerStatus, txHash ?? ''];
  hold(
    texts.every((text) => text.isWellFormed() && !text.includes('\u0000')),
    'a report has a text that cannot be stored',
  );
  hold(
    amountMicro === null || (amountMicro > 0n && amountMicro <= LARGEST),
    'an amount that cannot be stored',
  );
};

const read = (onramp: Onramp, body: Buffer, headers: Record<string, string>): void => {
  const report = refusing([ServiceError], () => onramp.readWebhook({ body, headers }));
  if (report !== null) storable(report);
};

export const webhookTargets = (): Target[] => [
  target('on-ramp: signed body of MoonPay', changedJson(fc.constant(ofMoonpay)), (text) => {
    const body = Buffer.from(text);
    const signature = hmac(KEY, `${SECONDS}.`, body).digest('hex');
    read(moonpay, body, { 'moonpay-signature-v2': `t=${SECONDS},s=${signature}` });
  }),
  target('on-ramp: signed body of Coinbase', changedJson(fc.constant(ofCoinbase)), (text) => {
    const body = Buffer.from(text);
    const signature = hmac(KEY, `${SECONDS}.`, body).digest('hex');
    read(coinbase, body, { 'x-hook0-signature': `t=${SECONDS},v0=${signature}` });
  }),
  target(
    'on-ramp: signature of MoonPay',
    anyOrChanged(fc.constant(`t=${SECONDS},s=${'a'.repeat(64)}`)),
    (header) => read(moonpay, Buffer.from('{}'), { 'moonpay-signature-v2': header }),
  ),
  target(
    'on-ramp: signature of Coinbase',
    anyOrChanged(
      fc.constant(`t=${SECONDS},v0=${'a'.repeat(64)},h=content-type x-event-id,v1=${'b'.repeat(64)}`),
    ),
    (header) => read(coinbase, Buffer.from('{}'), { 'x-hook0-signature': header, 'x-event-id': 'e' }),
  ),
];

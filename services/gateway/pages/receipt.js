/**
 * Verifies the receipt in the fragment of this page's address, and shows it. Only the public keys
 * are loaded. The verification is that of `verifyReceipt` of the SDK. Content is inserted as text
 * only, so that no receipt can run a script here.
 */

const TYPE = 'quittance-receipt+jwt';
const KID = /^(test|live)\.settlement\.[1-9][0-9]{0,5}$/;
const MAX_LENGTH = 65_536;
const HASH = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const AMOUNT = /^(0|[1-9][0-9]{0,18})$/;

/** The query of the explorer for each network that it knows, by CAIP-2 id. */
const CLUSTERS = new Map([
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', ''],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', '?cluster=devnet'],
  ['solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z', '?cluster=testnet'],
]);

/** The chain of a gateway on this machine has the name of a public network and is not in it. */
const LOCAL = /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/;

/** The receipt is not valid. */
class BadReceipt extends Error {}
/** The receipt could not be verified. This is no statement about it. */
class NotVerified extends Error {}

const element = (id) => document.getElementById(id);

const bytesOf = (part) => {
  let binary;
  try {
    binary = atob(part.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    throw new BadReceipt('It is not complete, or it was changed.');
  }
  // Only the canonical encoding is accepted, as by the SDK.
  const spelled = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  if (spelled !== part) throw new BadReceipt('It is not complete, or it was changed.');
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
};

const parsed = (part) => {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(part)));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below names the cause.
  }
  throw new BadReceipt('It is not complete, or it was changed.');
};

const loadKeys = async () => {
  try {
    const answer = await fetch('/.well-known/jwks.json?all=true', { credentials: 'omit' });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return (await answer.json()).keys;
  } catch {
    throw new NotVerified('The public keys could not be loaded. Check the connection and reload this page.');
  }
};

const importKey = async ({ kty, crv, x }) => {
  try {
    return await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']);
  } catch {
    throw new NotVerified(
      'This browser cannot verify Ed25519 signatures. Open the link in a current browser, by https.',
    );
  }
};

/** Whether a key proves what it signed at a time. The thief of a key writes any time into it. */
const isInForce = ({ retired_at, compromised_at }, issuedAt) =>
  compromised_at === undefined && (retired_at === undefined || issuedAt <= Date.parse(retired_at));

const isAmount = (value) => typeof value === 'string' && AMOUNT.test(value);

const isReceipt = ({ amount, vendor, transaction, refunds, refunded, settlement_id }) =>
  typeof settlement_id === 'string' &&
  [amount?.gross, amount?.fee, amount?.net, refunded].every(isAmount) &&
  typeof vendor?.service_name === 'string' &&
  HASH.test(transaction?.signature) &&
  Array.isArray(refunds) &&
  refunds.every((refund) => isAmount(refund?.amount) && HASH.test(refund?.signature));

/** The content and the key's name. Throws BadReceipt or NotVerified. */
const verify = async (receipt) => {
  const parts = receipt.split('.');
  if (receipt.length > MAX_LENGTH || parts.length !== 3)
    throw new BadReceipt('It is not complete, or it was changed.');
  const [header, payload, signature] = parts;
  const { alg, kid, typ, ...unknown } = parsed(header);
  if (alg !== 'EdDSA' || typ !== TYPE || Object.keys(unknown).length > 0)
    throw new BadReceipt('It is not a receipt.');
  const [, env] = KID.exec(String(kid)) ?? [];
  const claims = parsed(payload);
  if (env === undefined || claims.env !== env) throw new BadReceipt('It names a key that may not sign it.');
  const jwk = (await loadKeys()).find((key) => key.kid === kid && key.env === env);
  if (jwk === undefined) throw new BadReceipt('It names a key that this system has not published.');
  const key = await importKey(jwk);
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  if (!(await crypto.subtle.verify('Ed25519', key, bytesOf(signature), signed)))
    throw new BadReceipt('It was changed, or this system did not sign it.');
  if (!isReceipt(claims)) throw new BadReceipt('Its content is not that of a receipt.');
  if (!isInForce(jwk, claims.iat * 1000))
    throw new BadReceipt(
      'Its key is no longer in force, so anybody may have signed it. Ask for a new receipt.',
    );
  return { claims, kid };
};

/** Micro-units as USDC with at least two decimals. */
const usdc = (micro) => {
  const value = BigInt(micro);
  const fraction = (value % 1_000_000n)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${(value / 1_000_000n).toLocaleString('en-GB')}.${fraction}`;
};

const time = (text) => {
  const options = { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' };
  return `${new Date(text).toLocaleString('en-GB', options)} UTC`;
};

const tagged = (tag, className, ...content) => {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...content);
  return made;
};
const code = (text) => tagged('span', 'code', String(text));

/** A transaction, with a link if a public explorer knows the network. */
const transaction = (signature, { network, iss }) => {
  const cluster = CLUSTERS.get(network);
  if (cluster === undefined || LOCAL.test(iss)) return code(signature);
  const link = tagged('a', 'code', signature);
  link.href = `https://explorer.solana.com/tx/${encodeURIComponent(signature)}${cluster}`;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  return link;
};

const fill = (id, rows) =>
  element(id).replaceChildren(
    ...rows.flatMap(([name, value]) => [tagged('dt', '', name), tagged('dd', '', value)]),
  );

const CHAIN = {
  confirmed: 'Confirmed. It is not final yet',
  finalized: 'Final',
  failed: 'Reversed',
};

const show = ({ claims, kid }) => {
  const { amount, vendor, network, refunds } = claims;
  const left = BigInt(amount.net) - BigInt(claims.refunded);
  element('badge').hidden = claims.env !== 'test';
  element('reversed').hidden = claims.chain_status !== 'failed';
  element('gross').textContent = usdc(amount.gross);
  element('payee').textContent = vendor.service_name;
  fill('amounts', [
    ['Paid', `${usdc(amount.gross)} USDC`],
    ['Fee', `${usdc(amount.fee)} USDC`],
    ['Received by the vendor', `${usdc(amount.net)} USDC`],
    ...(claims.refunded === '0'
      ? []
      : [
          ['Refunded', `${usdc(claims.refunded)} USDC`],
          ['Left with the vendor', `${usdc(left < 0n ? 0n : left)} USDC`],
        ]),
  ]);
  element('refunds').hidden = refunds.length === 0;
  element('refund-list').replaceChildren(
    ...refunds.map((refund) =>
      tagged(
        'li',
        '',
        `${usdc(refund.amount)} USDC, requested ${time(refund.created_at)} `,
        tagged('br', ''),
        transaction(refund.signature, claims),
      ),
    ),
    ...(claims.refund_count > refunds.length
      ? [tagged('li', '', `and ${claims.refund_count - refunds.length} more`)]
      : []),
  );
  fill('payment', [
    ['Confirmed', time(claims.confirmed_at)],
    ['On the chain', CHAIN[claims.chain_status] ?? String(claims.chain_status)],
    ...(claims.redeemed_at === null ? [] : [['Redeemed', time(claims.redeemed_at)]]),
    ['Transaction', transaction(claims.transaction.signature, claims)],
    ['From', code(claims.payer_address)],
    ['To', code(vendor.payout_address)],
    ['Settlement', code(claims.settlement_id)],
    ...(claims.quote === null ? [] : [['Quote', code(claims.quote.quote_id)]]),
    ['Network', code(network)],
  ]);
  fill('signature', [
    ['Signed', time(claims.iat * 1000)],
    ['By', code(claims.iss)],
    ['Key', code(kid)],
  ]);
  element('receipt').hidden = false;
};

const state = (text, className, reason = '') => {
  element('state').textContent = text;
  element('state').className = `state ${className}`;
  element('reason').textContent = reason;
};

let run = 0;
const check = async () => {
  run += 1;
  const own = run;
  element('receipt').hidden = true;
  element('badge').hidden = true;
  const receipt = location.hash.slice(1);
  if (receipt === '')
    return state('No receipt', '', 'Open the whole link of the receipt, with the part after #.');
  state('Verifying the signature …', '');
  try {
    if (globalThis.crypto?.subtle === undefined)
      throw new NotVerified('This page can verify receipts by https only. Open its https address.');
    const verified = await verify(receipt);
    // A link that was opened meanwhile has its own check.
    if (own !== run) return;
    show(verified);
    state('Signature valid', 'good');
  } catch (error) {
    if (own !== run) return;
    element('receipt').hidden = true;
    if (error instanceof BadReceipt) state('Not valid: do not trust this receipt', 'bad', error.message);
    else
      state(
        'Not verified',
        'bad',
        error instanceof NotVerified ? error.message : 'The receipt could not be shown.',
      );
  }
};

element('print').addEventListener('click', () => print());
addEventListener('hashchange', check);
check();

import { expect, test } from '@jest/globals';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { quoteOf } from '../../deploy/local/seed/actors.ts';
import { eachOf } from './command.ts';
import { balanceOf, chainOf, createParties, settleUntilPaid, verifyTransaction } from './payment.ts';
import { allHealthy, containerOf, docker, installation } from './running.ts';

/**
 * Proves that a container killed by SIGKILL during payments loses no payment and pays none twice:
 * the client repeats its calls, and the chain decides.
 */
const PAYMENTS = 12;
const AT_A_TIME = 3;

/** Kills a container and starts it again. An engine does not restart what it was asked to kill. */
const killAndStart = async (service: string): Promise<void> => {
  const container = await containerOf(service);
  await docker('kill', '--signal', 'KILL', container);
  await docker('start', container);
};

test.each(['settlement', 'chain-submitter'])(
  '%s killed during payments: each is paid once',
  async (service) => {
    const parties = await createParties(installation);
    const { api, vendor, consumer } = parties;
    const consumerAddress = consumer.wallet.publicKey.toBase58();
    const before = await balanceOf(installation, consumerAddress);
    const quotes = await Promise.all(Array.from({ length: PAYMENTS }, () => quoteOf(api, vendor)));
    const settlements = new Map<string, string>();
    let killed: Promise<void> | undefined;
    await eachOf(quotes, AT_A_TIME, async (quote) => {
      const { settlement_id, tx_hash } = await settleUntilPaid(parties, quote);
      settlements.set(settlement_id, tx_hash);
      // Other payments are in progress.
      if (settlements.size >= PAYMENTS / 3) killed ??= killAndStart(service);
    });
    expect(killed).toBeDefined();
    await killed;
    expect(settlements.size).toBe(PAYMENTS);
    expect(new Set(settlements.values()).size).toBe(PAYMENTS);
    for (const transaction of settlements.values()) await verifyTransaction(installation, transaction);

    const gross = quotes.reduce((sum, { quote_amount }) => sum + BigInt(quote_amount), 0n);
    const fee = quotes.reduce((sum, { fee_amount }) => sum + BigInt(fee_amount), 0n);
    const payee = vendor.payout.publicKey;
    expect(before - (await balanceOf(installation, consumerAddress))).toBe(gross);
    expect(await balanceOf(installation, payee.toBase58())).toBe(gross - fee);
    // Every transaction that the chain has for the vendor's account is one of the answers.
    const account = getAssociatedTokenAddressSync(new PublicKey(installation.usdc_mint), payee, true);
    const onChain = await chainOf(installation).getSignaturesForAddress(account);
    const answered = new Set(settlements.values());
    expect(onChain.filter(({ signature }) => answered.has(signature)).length).toBe(PAYMENTS);
    expect(onChain.filter(({ signature, err }) => !answered.has(signature) && err === null)).toEqual([]);
    await allHealthy();
  },
);

import type { BalanceChanges } from './balance-changes.ts';
import type { Network } from './network.ts';
import type { Order } from './order.ts';

/** All token balance changes of an order, by account; empty for an order that moves no tokens. */
export const expectedDeltas = (order: Order, { feeAccount }: Network): [account: string, delta: bigint][] => {
  if (order.kind === 'settle') {
    return [
      [order.source, -order.grossMicro],
      [order.payoutAccount, order.grossMicro - order.feeMicro],
      // An account that pays its accrued fees pays the fee account itself.
      ...(order.payoutAccount === feeAccount ? [] : [[feeAccount, order.feeMicro] as [string, bigint]]),
    ];
  }
  if (order.kind === 'withdrawal' || order.kind === 'refund') {
    return [
      [order.source, -order.amountMicro],
      [order.destination, order.amountMicro],
    ];
  }
  if (order.kind === 'incoming' || order.kind === 'outgoing') {
    const deltas = new Map<string, bigint>();
    const add = (account: string, micro: bigint) => deltas.set(account, (deltas.get(account) ?? 0n) + micro);
    for (const { destination, amountMicro } of order.legs) {
      add(order.source, -amountMicro);
      add(destination, amountMicro);
    }
    return [...deltas];
  }
  return order.kind === 'fund' ? [[order.destination, order.amountMicro]] : [];
};

/** Whether a transaction succeeded and moved all of an order's money, the fee included. */
export const movedOrder = (changes: BalanceChanges, order: Order | null, network: Network): boolean =>
  changes.err === null &&
  (order === null ? [] : expectedDeltas(order, network)).every(
    ([account, delta]) => changes.deltaOf(account) === delta,
  );

/**
 * What a transaction of the platform has captured of a ceiling, or null: it is no capture of it.
 * The fee is that of the amount by the signed rule. The ceiling bounds what is signed and not what
 * is found: a restore may have lost an extension.
 */
export const capturedOf = (
  changes: BalanceChanges,
  sought: {
    source: string;
    payoutAccount: string;
    feeOf: (grossMicro: bigint) => bigint;
  },
  { feeAccount, feePayers }: Pick<Network, 'feeAccount' | 'feePayers'>,
): bigint | null => {
  const feePayer = changes.feePayer();
  if (changes.err !== null || feePayer === null || !feePayers.includes(feePayer)) return null;
  const grossMicro = -changes.deltaOf(sought.source);
  const fee = changes.deltaOf(feeAccount);
  if (grossMicro <= fee || fee !== sought.feeOf(grossMicro)) return null;
  return changes.deltaOf(sought.payoutAccount) === grossMicro - fee ? grossMicro : null;
};

/**
 * Whether a transaction succeeded and paid the quote's amounts to vendor and platform, from any
 * wallet.
 */
export const paidQuote = (
  changes: BalanceChanges,
  { payoutAccount, grossMicro, feeMicro }: { payoutAccount: string; grossMicro: bigint; feeMicro: bigint },
  { feeAccount }: Pick<Network, 'feeAccount'>,
): boolean =>
  changes.err === null &&
  changes.deltaOf(payoutAccount) === grossMicro - feeMicro &&
  (payoutAccount === feeAccount || changes.deltaOf(feeAccount) === feeMicro);

import type { Chain } from '../chain.ts';
import { ConnectionClosed } from '../errors.ts';
import type { Transaction } from '../formats/wire.ts';
import type { Key } from '../keys.ts';
import type { Methods } from '../methods/params.ts';
import { transactionMethods } from '../methods/transactions.ts';
import { scenarioOf } from './amounts.ts';

/** 20 s with slots of 400 ms: a settle call waits shorter, and a blockhash is valid longer. */
const WITHHELD_SLOTS = 50;
/** 10 s with slots of 400 ms: a settle call still waits when the payment is sent again. */
const UNREACHABLE_SLOTS = 25;

type SignatureStatuses = { value: ({ confirmationStatus: string } | null)[] };

/**
 * The methods for transactions, with the scenarios of `amounts.ts`. They are those of the chain for
 * every other transaction. The state of a scenario is lost at a restart.
 */
export const scenarioMethods = (chain: Chain, mint: Key): Methods => {
  const { ledger, history } = chain;
  const withheld = new Map<string, { transaction: Transaction; untilSlot: number }>();
  const reachableFrom = new Map<string, number>();
  /** Transactions that are undone once, each with its progress. */
  const forks = new Map<string, 'included' | 'reported' | 'undone'>();

  const withhold = (transaction: Transaction): string => {
    const { signature } = transaction;
    if (!withheld.has(signature)) {
      withheld.set(signature, { transaction, untilSlot: ledger.slot() + WITHHELD_SLOTS });
    }
    return signature;
  };

  const isUnreachable = (signature: string): boolean => {
    const from = reachableFrom.get(signature) ?? ledger.slot() + UNREACHABLE_SLOTS;
    reachableFrom.set(signature, from);
    return ledger.slot() < from;
  };

  const undo = (signature: string): void => {
    forks.set(signature, 'undone');
    const slot = history.get(signature)?.slot;
    if (slot === undefined) return;
    let count = 1;
    while ((ledger.firstLostSlot(count) ?? 0) > slot) count += 1;
    chain.fork(count);
  };

  chain.listen((event) => {
    if (event.type !== 'slot') return;
    for (const [signature, { transaction, untilSlot }] of withheld) {
      if (ledger.slot() < untilSlot) continue;
      withheld.delete(signature);
      chain.include(transaction);
    }
    for (const [signature, progress] of forks) if (progress === 'reported') undo(signature);
  });

  const send: Chain['send'] = (transaction, options) => {
    const found = scenarioOf(transaction, mint);
    const { signature } = transaction;
    switch (found?.scenario) {
      case 'insufficient':
        return chain.send(transaction, { ...options, staged: { account: found.source.name, as: 'empty' } });
      case 'failed':
        return chain.send(transaction, { ...options, staged: { account: found.source.name, as: 'frozen' } });
      case 'slow':
        return history.get(signature) ? signature : withhold(transaction);
      case 'unreachable':
        if (isUnreachable(signature)) throw new ConnectionClosed();
        return chain.send(transaction, options);
      case 'forked':
        if (!forks.has(signature)) forks.set(signature, 'included');
        return chain.send(transaction, options);
      default:
        return chain.send(transaction, options);
    }
  };

  const simulate: Chain['simulate'] = (transaction, verify, at) => {
    const found = scenarioOf(transaction, mint);
    const staged =
      found?.scenario === 'insufficient' ? { account: found.source.name, as: 'empty' as const } : undefined;
    return chain.simulate(transaction, verify, at, staged);
  };

  const methods = transactionMethods({ ...chain, send, simulate });
  return {
    ...methods,
    // The fork follows the first answer that shows the payment as confirmed, so every client that
    // polls sees first that it is confirmed and then that it is gone.
    getSignatureStatuses: (params) => {
      const answer = methods.getSignatureStatuses!(params) as SignatureStatuses;
      for (const [index, status] of answer.value.entries()) {
        const signature = (params[0] as string[])[index]!;
        if (status?.confirmationStatus === 'confirmed' && forks.get(signature) === 'included') {
          forks.set(signature, 'reported');
        }
      }
      return answer;
    },
  };
};

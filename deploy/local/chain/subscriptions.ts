import { z } from 'zod';
import type { Chain, ChainEvent } from './chain.ts';
import { invalidParams } from './errors.ts';
import { type AccountFormat, encodeAccount } from './formats/encode.ts';
import { type Key, SYSTEM_PROGRAM } from './keys.ts';
import type { Commitment } from './ledger.ts';
import {
  accountFormat,
  address,
  inContext,
  type Methods,
  parse,
  readConfig,
  signature,
} from './methods/params.ts';

type Send = (method: string, subscription: number, result: unknown) => void;
type SignatureSubscription = { id: number; signature: string; level: Commitment; received: boolean };
type AccountSubscription = { id: number; key: Key; level: Commitment; format: AccountFormat; seen: string };

const RANK: Record<Commitment, number> = { processed: 0, confirmed: 1, finalized: 2 };
const signatureConfig = z
  .object({ ...readConfig, enableReceivedNotification: z.boolean().nullish() })
  .nullish();
const accountConfig = z.object({ ...readConfig, ...accountFormat }).nullish();

// A closed account is shown without content, as Solana does.
const CLOSED = {
  data: ['', 'base64'],
  executable: false,
  lamports: 0,
  owner: SYSTEM_PROGRAM.name,
  rentEpoch: 0,
  space: 0,
};

let lastId = 0;

/**
 * The subscriptions of one WebSocket connection.
 *
 * @param send Sends a notification. It is called only after the answer to the subscription was
 *   sent, because a client cannot assign a notification to a subscription whose id it does not have
 *   yet.
 */
export const createSubscriptions = (chain: Chain, send: Send) => {
  const { ledger, bank, history } = chain;
  const signatures = new Map<number, SignatureSubscription>();
  const accounts = new Map<number, AccountSubscription>();
  const slots = new Set<number>();

  const checkSignature = (subscription: SignatureSubscription): void => {
    const included = history.get(subscription.signature);
    if (!included || RANK[ledger.commitmentOf(included.slot)] < RANK[subscription.level]) return;
    signatures.delete(subscription.id);
    const slot = ledger.slotAt(subscription.level);
    send('signatureNotification', subscription.id, inContext(slot, { err: included.err }));
  };

  /** The account as the subscription sees it now. */
  const accountOf = ({ key, level, format }: AccountSubscription) => {
    const slot = ledger.slotAt(level);
    const account = bank.accountAt(key, slot);
    if (!account) return CLOSED;
    // An account that has grown too long for base58 must not throw inside an event.
    const fits = format.encoding !== undefined && format.encoding !== 'base58';
    return encodeAccount(bank, account, slot, fits ? format : { ...format, encoding: 'base64' });
  };

  const checkAccount = (subscription: AccountSubscription): void => {
    const value = accountOf(subscription);
    const now = JSON.stringify(value);
    if (now === subscription.seen) return;
    subscription.seen = now;
    const slot = ledger.slotAt(subscription.level);
    send('accountNotification', subscription.id, inContext(slot, value));
  };

  const onEvent = (event: ChainEvent): void => {
    if (event.type === 'received') {
      for (const { id, signature: name, received } of signatures.values()) {
        if (!received || name !== event.signature) continue;
        send('signatureNotification', id, inContext(ledger.slot(), 'receivedSignature'));
      }
      return;
    }
    for (const subscription of signatures.values()) {
      if (event.type !== 'transaction' || event.included.signature === subscription.signature) {
        checkSignature(subscription);
      }
    }
    for (const subscription of accounts.values()) checkAccount(subscription);
    if (event.type !== 'slot') return;
    const slot = ledger.slot();
    for (const id of slots)
      send('slotNotification', id, { parent: slot - 1, root: ledger.slotAt('finalized'), slot });
  };
  const stop = chain.listen(onEvent);

  const nextId = (): number => {
    lastId += 1;
    return lastId;
  };

  const unsubscribe = (from: { delete(id: number): boolean }) => (params: unknown[]) => {
    const [id] = parse(params, z.number().int());
    if (!from.delete(id)) throw invalidParams('Invalid subscription id.');
    return true;
  };

  const methods: Methods = {
    signatureSubscribe: (params) => {
      const [name, given] = parse(params, signature, signatureConfig);
      const level = given?.commitment ?? 'finalized';
      const received = given?.enableReceivedNotification === true;
      const subscription = { id: nextId(), signature: name, level, received };
      signatures.set(subscription.id, subscription);
      // After the answer: the transaction may have been included earlier.
      setImmediate(() => signatures.has(subscription.id) && checkSignature(subscription));
      return subscription.id;
    },
    signatureUnsubscribe: unsubscribe(signatures),
    accountSubscribe: (params) => {
      const [key, given] = parse(params, address, accountConfig);
      const { encoding, dataSlice } = given ?? {};
      const level = given?.commitment ?? 'finalized';
      const subscription = { id: nextId(), key, level, format: { encoding, dataSlice }, seen: '' };
      subscription.seen = JSON.stringify(accountOf(subscription));
      accounts.set(subscription.id, subscription);
      return subscription.id;
    },
    accountUnsubscribe: unsubscribe(accounts),
    slotSubscribe: () => {
      const id = nextId();
      slots.add(id);
      return id;
    },
    slotUnsubscribe: unsubscribe(slots),
  };

  return { methods, close: stop };
};

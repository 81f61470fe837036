import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { WebSocket } from 'ws';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  base64,
  newPayer,
  signedTransfer,
  startChain,
  type TestChain,
} from '../../../test/support/servers/local-chain.ts';

type Message = {
  id?: unknown;
  result?: unknown;
  error?: { code: number };
  method?: string;
  params?: { subscription: number; result: { context?: { slot: number }; value?: unknown } };
};

let chain: TestChain;
let payer: Keypair;
let socket: WebSocket;
let messages: Message[] = [];
let nextId = 0;

const until = async (holds: (message: Message) => boolean): Promise<Message> =>
  (await waitFor(
    () => messages.find(holds) ?? null,
    (found) => found !== null,
  ))!;
const call = async (method: string, ...params: unknown[]): Promise<Message> => {
  nextId += 1;
  const id = nextId;
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  return await until((message) => message.id === id);
};
const notifications = (method: string) => messages.filter((message) => message.method === method);
const signedPayment = async () => {
  const to = Keypair.generate().publicKey;
  const transaction = await signedTransfer(chain, payer, to, 1_000_000);
  const name = bs58.encode(transaction.signature ?? new Uint8Array());
  const options = { encoding: 'base64', preflightCommitment: 'processed' };
  const send = () => chain.call('sendTransaction', base64(transaction.serialize()), options);
  return { to: to.toBase58(), name, send };
};

beforeAll(async () => {
  chain = await startChain();
  await chain.call('chain_clock', { paused: true });
  payer = await newPayer(chain);
  socket = new WebSocket(chain.wsUrl);
  socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Message));
  await once(socket, 'open');
});
afterEach(() => {
  messages = [];
});
afterAll(async () => {
  socket.terminate();
  await chain.stop();
  chain.remove();
});

test('a signature notification is sent once, at the requested commitment', async () => {
  const { name, send } = await signedPayment();
  const options = { commitment: 'confirmed', enableReceivedNotification: true };
  const { result: subscription } = await call('signatureSubscribe', name, options);
  await send();
  await until((message) => message.params?.result.value === 'receivedSignature');
  await call('getHealth');
  expect(notifications('signatureNotification')).toHaveLength(1);
  const { slot } = await chain.call<{ slot: number }>('chain_advance', 1);
  await until((message) => (message.params?.result.value as { err: unknown } | undefined)?.err === null);
  await chain.call('chain_advance', 40);
  expect(notifications('signatureNotification')[1]?.params).toMatchObject({
    subscription,
    result: { context: { slot: slot - 1 }, value: { err: null } },
  });
  expect(notifications('signatureNotification')).toHaveLength(2);
  // The subscription has ended, so it cannot be removed.
  expect((await call('signatureUnsubscribe', subscription)).error?.code).toBe(-32602);
});

test('the notification of a finalized signature follows the answer to the subscription', async () => {
  const { name, send } = await signedPayment();
  await send();
  await chain.call('chain_advance', 40);
  const { result } = await call('signatureSubscribe', name);
  const notification = await until((message) => message.method === 'signatureNotification');
  expect(notification.params?.subscription).toBe(result);
  expect(messages.findIndex((message) => message.result === result)).toBeLessThan(
    messages.indexOf(notification),
  );
});

test('account and slot notifications are sent until the client unsubscribes', async () => {
  const { to, send } = await signedPayment();
  const { result: account } = await call('accountSubscribe', to, {
    commitment: 'confirmed',
    encoding: 'base64',
  });
  const { result: slots } = await call('slotSubscribe');
  await send();
  const { slot } = await chain.call<{ slot: number }>('chain_advance', 2);
  const seen = await until((message) => message.method === 'accountNotification');
  expect(seen.params?.result.value).toMatchObject({ lamports: 1_000_000, data: ['', 'base64'] });
  expect(notifications('slotNotification').map((one) => one.params?.result)).toEqual([
    { parent: slot - 2, root: slot - 33, slot: slot - 1 },
    { parent: slot - 1, root: slot - 32, slot },
  ]);
  expect((await call('accountUnsubscribe', account)).result).toBe(true);
  expect((await call('slotUnsubscribe', slots)).result).toBe(true);
  messages = [];
  await chain.call('chain_advance', 1);
  await call('getHealth');
  expect(messages.filter((message) => message.method)).toEqual([]);
});

test('pings, invalid messages and unknown methods leave the connection open', async () => {
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'ping' }));
  socket.send('{');
  expect((await call('ping')).error?.code).toBe(-32601);
  expect((await call('blockSubscribe')).error?.code).toBe(-32601);
  expect((await call('signatureSubscribe', 'short')).error?.code).toBe(-32602);
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

test('a drop fault drops a subscription', async () => {
  await chain.call('chain_fault', { method: 'slotSubscribe', kind: 'drop', count: 1 });
  const closed = once(socket, 'close');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'x', method: 'slotSubscribe' }));
  await closed;
});

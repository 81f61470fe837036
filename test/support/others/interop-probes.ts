import { waitFor } from '../base/wait.ts';
import { runInterop } from './interop.ts';
import type { InteropChain } from './interop-chain.ts';

/**
 * Questions to any x402 facilitator: what does it answer when the same payload comes again, and
 * when it does not know whether the payment was made? They use only its HTTP interface.
 */

/** A facilitator at its base URL. Its calls carry the service key, if there is one. */
type Facilitator = { url: string; serviceKey?: string };
type Subject = { facilitator: Facilitator; chain: InteropChain; network: string; payTo: string };

/** `body` is JSON, or text if it is none. */
type Answer = { status: number; body: Record<string, unknown> & string };
type Probe = {
  /** The answers, by the name of the call. */
  answers: Record<string, Answer>;
  /** What the payee has received for one payment of `PRICE`. */
  receivedMicro: bigint;
};

type Kind = { x402Version: number; network: string; extra?: object };
type Payment = { payload: { payload: { transaction: string } }; requirements: object };

const PRICE = 50_000n;

const call = async (
  { url, serviceKey }: Facilitator,
  operation: 'supported' | 'verify' | 'settle',
  body?: object,
): Promise<Answer> => {
  const response = await fetch(`${url}/${operation}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      ...(serviceKey !== undefined && { authorization: `Bearer ${serviceKey}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: text as Answer['body'] };
  }
};

const post = (facilitator: Facilitator, operation: 'verify' | 'settle', payment: Payment) =>
  call(facilitator, operation, {
    x402Version: 2,
    paymentPayload: payment.payload,
    paymentRequirements: payment.requirements,
  });

/** A payment of `PRICE` that an unmodified client has signed, by a wallet of its own. */
const signPayment = async ({ facilitator, chain, network, payTo }: Subject): Promise<Payment> => {
  const { body } = await call(facilitator, 'supported');
  const kind = (body.kinds as Kind[] | undefined)?.find(
    (each) => each.x402Version === 2 && each.network === network,
  );
  if (kind === undefined) throw new Error(`${facilitator.url} does not support ${network}`);
  const requirements = {
    scheme: 'exact',
    network,
    asset: chain.mint,
    amount: PRICE.toString(),
    payTo,
    maxTimeoutSeconds: 60,
    extra: { ...kind.extra },
  };
  const { secretKey } = await chain.wallet(10n * PRICE);
  const [signed] = await runInterop<{ payload?: Payment['payload']; error?: string }>('signer', {
    ...{ rpcUrl: chain.rpcUrl, secretKey, requirements },
  });
  if (signed?.payload === undefined) throw new Error(`the client did not sign: ${signed?.error}`);
  return { payload: signed.payload, requirements };
};

/** Runs calls, and waits until the payee has received something. */
const probe = async (
  { chain, payTo }: Subject,
  ask: () => Promise<Record<string, Answer>>,
): Promise<Probe> => {
  const before = await chain.balance(payTo);
  const answers = await ask();
  const received = async () => (await chain.balance(payTo)) - before;
  return { answers, receivedMicro: await waitFor(received, (micro) => micro > 0n) };
};

/** The payment with other bytes in place of the fee payer's signature, which nobody has signed. */
const altered = ({ payload, requirements }: Payment): Payment => {
  const bytes = Buffer.from(payload.payload.transaction, 'base64');
  bytes.fill(7, 1, 65);
  const transaction = bytes.toString('base64');
  return { payload: { ...payload, payload: { transaction } }, requirements };
};

/** The same payload twice at once, again after that, and again with another empty signature. */
export const probeSamePayload = async (subject: Subject): Promise<Probe> => {
  const payment = await signPayment(subject);
  return probe(subject, async () => {
    const both = await Promise.all([1, 2].map(() => post(subject.facilitator, 'settle', payment)));
    const [first, second] = both.sort((a, b) => Number(b.body.success) - Number(a.body.success));
    const again = await post(subject.facilitator, 'settle', payment);
    return {
      first: first!,
      second: second!,
      again,
      altered: await post(subject.facilitator, 'settle', altered(payment)),
      verify: await post(subject.facilitator, 'verify', payment),
    };
  });
};

/** The chain includes the payment, and the answer to its sendTransaction is lost. */
export const probeLostAnswer = async (subject: Subject): Promise<Probe> => {
  const payment = await signPayment(subject);
  return probe(subject, async () => {
    await subject.chain.fault({ method: 'sendTransaction', kind: 'drop_after_accept', count: 1 });
    try {
      const settle = await post(subject.facilitator, 'settle', payment);
      return { settle, again: await post(subject.facilitator, 'settle', payment) };
    } finally {
      await subject.chain.fault();
    }
  });
};

/**
 * The same payload after a restart of a facilitator that answered success.
 * @param restart kills the facilitator, starts it again and returns it
 */
export const probeRestart = async (subject: Subject, restart: () => Promise<Facilitator>): Promise<Probe> => {
  const payment = await signPayment(subject);
  return probe(subject, async () => {
    const settle = await post(subject.facilitator, 'settle', payment);
    const restarted = await restart();
    const verify = await post(restarted, 'verify', payment);
    return { settle, verify, again: await post(restarted, 'settle', payment) };
  });
};

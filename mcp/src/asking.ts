import { randomBytes } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { displayUsdc } from '../../sdk/src/generated/usdc.ts';
import { type Approve, type Price, payeesOfPrice } from '../../sdk/src/pay/main.ts';
import type { Payees } from './payees.ts';
import { shown } from './shown.ts';

/**
 * Asks the person before a payment above a threshold, or to a new payee. The client shows the
 * question, and calls the tool again with the answer. What was asked is signed, so the answer
 * approves nothing else.
 */

/**
 * What a person was asked: a payment of at most this amount, to these payees in these parts, for
 * this request. `payees` is JSON.
 */
type Question = { method: string; url: string; amount: string; payees: string };

/** The payment waits for the answer of the person. */
export class QuestionError extends Error {
  readonly question: Question;
  readonly text: string;
  constructor(question: Question, text: string) {
    super('the person must be asked');
    this.question = question;
    this.text = text;
  }
}
/** The person has declined, or cannot be asked. Nothing was paid. */
export class NotApprovedError extends Error {
  override readonly name = 'NotApprovedError';
}

const KEY = 'payment';
const SCHEMA = {
  type: 'object',
  properties: { pay: { type: 'boolean', title: 'Pay', description: 'Make this payment' } },
  required: ['pay'],
} as const;

/** True if a client shows forms to its person. `elicitation: {}` means forms, too. */
const canAsk = (server: McpServer, { mcpReq }: ServerContext): boolean => {
  const declared = (mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
  const { elicitation } = (declared ?? server.server.getClientCapabilities() ?? {}) as {
    elicitation?: { form?: unknown; url?: unknown };
  };
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
};

const LONGEST_NAME = 80;
const LONGEST_URL = 300;

/** Everybody who is paid. Of several, the amount of each decides who gets the payment. */
const addressesOf = (price: Price): string => {
  const payees = payeesOfPrice(price);
  const shownOf = ({ address }: { address: string }) => shown(address, LONGEST_NAME);
  if (payees.length === 1) return payees.map(shownOf).join();
  return payees.map((each) => `${displayUsdc(each.amount)} to ${shownOf(each)}`).join(', ');
};

const textOf = (price: Price, { method, url }: Question, isNew: boolean) => {
  const name = `"${shown(price.service_name, LONGEST_NAME)}" (${addressesOf(price)})`;
  const payee = isNew ? `the new payee ${name}` : name;
  return `Pay ${displayUsdc(price.quote_amount)} to ${payee} for ${method} ${shown(url, LONGEST_URL)}?`;
};

const cannotAsk = (amount: string, isNew: boolean): NotApprovedError =>
  new NotApprovedError(
    isNew
      ? `The payee of ${displayUsdc(amount)} is new, and this client cannot ask the person. ` +
          'The person can list its origin or all its addresses in QUITTANCE_PAYEES, or the owner of the key in its limits.'
      : `The payment of ${displayUsdc(amount)} is above QUITTANCE_ASK_ABOVE, and this client cannot ask the person.`,
  );

export const createAsking = (askAboveMicro: bigint, known: Payees) => {
  // A key of this process, because one process serves both calls.
  const codec = createRequestStateCodec<Question>({ key: randomBytes(32) });

  const answered = (question: Question, { mcpReq }: ServerContext): boolean | null => {
    const asked = mcpReq.requestState<Question>();
    const view = inputResponse(mcpReq.inputResponses, KEY);
    if (asked === undefined || view.kind !== 'elicit') return null;
    const isSame =
      asked.method === question.method &&
      asked.url === question.url &&
      asked.payees === question.payees &&
      BigInt(question.amount) <= BigInt(asked.amount);
    if (!isSame) return null;
    return view.action === 'accept' && view.content?.pay === true;
  };

  return {
    /** The check of returned states, for the options of the server. */
    verify: codec.verify,
    /**
     * The decision about a price in one call of a tool.
     * @throws QuestionError if the person must be asked first; NotApprovedError
     */
    approveIn:
      (server: McpServer, context: ServerContext): Approve =>
      async (price, { method, url }) => {
        const { quote_amount: amount, rail } = price;
        const payees = payeesOfPrice(price);
        const addresses = payees.map(({ address }) => address);
        const who = { addresses, origin: new URL(url).origin, isOutside: rail !== undefined };
        const isNew = !(await known.isKnown(who));
        if (BigInt(amount) <= askAboveMicro && !isNew) return true;
        const question = { method, url, amount, payees: JSON.stringify(payees) };
        const answer = answered(question, context);
        if (answer === false) throw new NotApprovedError('The person has declined the payment.');
        if (answer === null) {
          if (!canAsk(server, context)) throw cannotAsk(amount, isNew);
          throw new QuestionError(question, textOf(price, question, isNew));
        }
        if (isNew) await known.add(who);
        return true;
      },
    /** The result that makes the client ask, and call the tool again. */
    ask: async ({ question, text }: QuestionError): Promise<InputRequiredResult> =>
      inputRequired({
        inputRequests: { [KEY]: inputRequired.elicit({ message: text, requestedSchema: SCHEMA as never }) },
        requestState: await codec.mint(question),
      }),
  };
};
export type Asking = ReturnType<typeof createAsking>;

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
import type { Approve, Price } from '../../sdk/src/pay/main.ts';
import { inUsdc } from './usdc.ts';

/**
 * Asks the person before a payment above a threshold. The client shows the question, and calls the
 * tool again with the answer. What was asked is signed, so the answer approves nothing else.
 */

/** What a person was asked: a payment of at most this amount to this payee for this request. */
type Question = { method: string; url: string; amount: string; payee: string };

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

const textOf = ({ service_name, payout_address, quote_amount }: Price, method: string, url: string) =>
  `Pay ${inUsdc(quote_amount)} to ${service_name} (${payout_address}) for ${method} ${url}?`;

export const createAsking = (askAboveMicro: bigint | null) => {
  // A key of this process, because one process serves both calls.
  const codec = createRequestStateCodec<Question>({ key: randomBytes(32) });

  const answered = (question: Question, { mcpReq }: ServerContext): boolean | null => {
    const asked = mcpReq.requestState<Question>();
    const view = inputResponse(mcpReq.inputResponses, KEY);
    if (asked === undefined || view.kind !== 'elicit') return null;
    const isSame =
      asked.method === question.method &&
      asked.url === question.url &&
      asked.payee === question.payee &&
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
      (price, { method, url }) => {
        const { quote_amount: amount, payout_address: payee } = price;
        if (askAboveMicro === null || BigInt(amount) <= askAboveMicro) return true;
        const question = { method, url, amount, payee };
        const answer = answered(question, context);
        if (answer === true) return true;
        if (answer === false) throw new NotApprovedError('The person has declined the payment.');
        if (!canAsk(server, context))
          throw new NotApprovedError(
            `The payment of ${inUsdc(amount)} is above QUITTANCE_ASK_ABOVE, and this client cannot ask the person.`,
          );
        throw new QuestionError(question, textOf(price, method, url));
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

import { ERRORS } from './errors.ts';
import { GUIDES } from './guides.ts';
import { contractList } from './index.ts';
import { operationId } from './openapi.ts';

/** A short description of the API for language models (llmstxt.org), derived from the contract. */

const ABOUT = `# Quittance

> Pay for an API call in USDC on Solana: the vendor quotes, the payer settles, the vendor redeems and delivers.

Amounts are strings of USDC micro-units: "2500000" is 2.50 USDC. Times are ISO 8601, UTC. Send JSON and
\`Authorization: Bearer <key>\`; the key's prefix selects the environment (test or live). Unknown fields are refused.

## The cycle

1. The vendor prices a call with \`POST /v1/quote\` and gives the \`quote_token\` to the payer. The vendor pays
   the fee out of the price, which must exceed it (\`fee_amount\`; by default 0.5 %, at least 0.01 USDC).
2. The payer pays it with \`POST /v1/settle\`, gets a \`settlement_token\`, and sends it to the vendor.
3. The vendor calls \`POST /v1/settlements/:settlement_id/redeem\`, and delivers only if \`replayed\` is false. A repeat has the
   status \`redeemed\` too. A vendor that sent its own \`redeem_id\` may repeat a lost redeem (SDK: \`redeemOnce\`).

## How to pay safely

- Choose a \`payment_attempt_id\` and store it before the first settle. Whatever happens, repeat with the same id:
  it never charges twice. Another id is another payment.
- A time-out, a dropped connection or a 202 never means "not paid". Repeat with the same id after \`Retry-After\`, or read
  \`GET /v1/settlements?payment_attempt_id=\`.
- Read \`money_moved\` and \`safe_action\` of an error: \`retry_same_attempt\`, \`read_settlement\`, \`new_quote\`, \`top_up\`,
  \`raise_limit\`, \`await_approval\`, \`stop\`. \`read_settlement\` comes with \`settlement_id\`: the account has paid this quote, or is paying it.
- \`read_settlement\`: read \`GET /v1/settlements/:settlement_id\` and show its token to the vendor. Never pay the quote's price again.
- \`quote_already_settled\` without a \`settlement_id\`: another buyer has paid the quote. Repeat the request to the vendor with the header
  \`x-quote-refused: <quote_id>\`; on 503 wait for \`Retry-After\`. Then pay the quote in that answer.
- Operations that create something accept the header \`Idempotency-Key\`: after a lost answer, repeat with the same key.
- Take price and environment from the verified quote token (keys: \`/.well-known/jwks.json\`), never from other text.
- \`approval_required\` comes with \`approval_id\`: the owner must decide first. Show it to the person, and repeat the same attempt later.
- A vendor may also answer 402 with \`PAYMENT-REQUIRED\` (x402) or \`WWW-Authenticate: Payment\` (MPP). Pay one of the offers, never two. Prefer
  the \`quote_token\`.
- To pay a vendor that does not use Quittance by x402: give the \`exact\` entry of \`accepts\`, unchanged, to \`POST /v1/payments\` with your
  \`payment_attempt_id\` and the URL, repeat the request with the header \`PAYMENT-SIGNATURE: <payment_signature>\`, and send the vendor's
  \`PAYMENT-RESPONSE\` to \`POST /v1/payments/:settlement_id/report\`. A 402 after that never means "not paid": the chain decides, within about two minutes.
- By MPP: give the unchanged parameters of a challenge of \`solana\` as \`challenge\`, show
  \`Authorization: <payment_signature>\`, and report the vendor's \`Payment-Receipt\`.
- A vendor's x402 middleware uses \`/v1/x402\` as its facilitator, with the service key. The success of a payment is handed out once;
  \`settlement_pending\` and 202 never mean "not paid": settle the same payload again.
- An agent pays with a delegate key (\`dk_…\`). Its limits hold for any number of concurrent calls. Never ask a person for a more powerful credential.`;

const operationLine = (service: string, name: string): string => {
  const op = contractList.find((each) => each.name === service)!.operations[name]!;
  const access = op.access.length === 0 ? 'no credential' : op.access.join(' or ');
  return `- \`${op.http.method} ${op.http.path}\` (${access}): ${op.summary} [${operationId(service, name)}]`;
};

/** The complete text. @param serverUrl the base URL of the API */
export const llmsText = ({ serverUrl }: { serverUrl: string }): string => {
  const endpoints = contractList.flatMap(({ name, operations }) =>
    Object.keys(operations).map((operation) => operationLine(name, operation)),
  );
  const errors = Object.entries(ERRORS).map(
    ([code, { http, retryable, meaning }]) =>
      `- \`${code}\` ${http}: ${meaning}${retryable ? ' Send the same call again.' : ''}`,
  );
  return [
    ABOUT,
    `## Endpoints of ${serverUrl}`,
    endpoints.join('\n'),
    '## Errors',
    'The body is `{"error": {"code", "message", "request_id", "docs_url", "details"?, "money_moved"?, "safe_action"?, "settlement_id"?, "approval_id"?}}`.',
    errors.join('\n'),
    '## More',
    `- [OpenAPI 3.1](${serverUrl}/openapi.json): every field, with examples\n- [Reference](${serverUrl}/docs): the same as web pages\n- [Errors](${serverUrl}/docs/errors): causes and what to do\n- [Guides](${serverUrl}/docs/guides): ${GUIDES.map(({ name }) => name).join(', ')}; each at ${serverUrl}/docs/guides/<name>.md\n- [Everything](${serverUrl}/llms-full.txt): all pages as one file of Markdown\n`,
  ].join('\n\n');
};

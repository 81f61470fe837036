/**
 * The guides beside the reference. The gateway serves them at /docs/guides/<name>, from the same
 * Markdown that the repository has.
 */

type Guide = {
  /** The last part of its address. */
  name: string;
  /** Its Markdown, from the root of the repository. */
  file: string;
  title: string;
  summary: string;
};

const guide = (name: string, title: string, summary: string, file = `docs/guides/${name}.md`): Guide => ({
  name,
  file,
  title,
  summary,
});

/** All guides, grouped by what a reader wants to do. */
export const GUIDE_GROUPS: readonly { title: string; guides: readonly Guide[] }[] = [
  {
    title: 'Start',
    guides: [
      guide('concepts', 'How it works', 'quote, settle and redeem in one picture'),
      guide('quickstart-vendor', 'Sell an API', 'put a price on a route, and get paid'),
      guide('any-api', 'Charge for any API', 'a gate before an API that stays as it is, in any language'),
      guide('quickstart-buyer', 'Pay for an API', 'a fetch that pays within limits, and the same with curl'),
      guide(
        'quickstart-agent',
        'Give an agent a budget',
        'one key with limits, for MCP, shells and programs',
      ),
      guide('test-environment', 'Test', 'test money, and amounts that cause each failure'),
      guide('troubleshooting', 'Troubleshooting', 'what you see, why, and what to do'),
      guide('faq', 'Questions', 'fees, banks, taxes, Solana, and what happens if the platform is down'),
    ],
  },
  {
    title: 'Sell',
    guides: [
      guide(
        'pricing',
        'Choose a price',
        'what is left of a price by quote, pack, tab and x402: a calculator',
      ),
      guide(
        'metered',
        'Be paid for what was used',
        'a ceiling that the buyer authorizes, a price after the answer, and one tab for many calls',
      ),
      guide('llm-by-tokens', 'LLM by tokens', 'charge for an OpenAI-compatible server by its usage'),
      guide('checkout', 'Sell to people', 'a page with a code for phones, wallets and accounts'),
      guide('payment-links', 'Payment links', 'a page with one price for people, without a server'),
      guide('python', 'Python', 'pay, sell FastAPI and Flask, verify webhooks and receipts'),
      guide(
        'proxies-and-browsers',
        'Proxies and browsers',
        'prefixes, CORS, buyers in pages, and several instances of a vendor',
      ),
      guide('refunds', 'Refunds', 'return a payment, and sign the refund'),
      guide('books', 'Books', 'statement, exports, fees, refunds and invoices'),
    ],
  },
  {
    title: 'Build it right',
    guides: [
      guide('authentication', 'Authentication', 'the kinds of credentials, what each may do, and rotation'),
      guide(
        'idempotency',
        'Idempotency',
        'what to repeat after a lost answer, and why nothing is paid twice',
      ),
      guide('errors', 'Handle errors', 'money_moved, safe_action and retries'),
      guide('crash-recovery', 'Crashes', 'what to do when a process dies between payment and delivery'),
      guide('webhooks', 'Webhooks', 'receive, verify and redeliver events'),
      guide('events', 'Events', 'every event with an example of its payload'),
      guide('receipts', 'Receipts', 'a signed receipt that anyone can verify'),
      guide('limits', 'Limits and fees', 'request limits, sizes, periods, caps and the fee'),
    ],
  },
  {
    title: 'Go live',
    guides: [
      guide('going-live', 'Go live', 'a checklist for vendors and buyers'),
      guide(
        'security',
        'Security for adopters',
        'who holds the money when, what a leak costs, what was checked',
      ),
      guide('close-account', 'Close an account', 'take your data and your money with you, and close'),
      guide(
        'versioning',
        'Versions',
        'what may change, and for how long the old form stays',
        'docs/versioning.md',
      ),
      guide('changelog', 'Changelog', 'what each release contains', 'CHANGELOG.md'),
    ],
  },
  {
    title: 'In depth',
    guides: [
      guide('agents', 'Agents', 'MCP tools, a shell, TypeScript and plain HTTP with one key'),
      guide(
        'sdk',
        'TypeScript SDK',
        'the client, the paying fetch, the paywall and their options',
        'sdk/README.md',
      ),
      guide('cli', 'Command line', 'pay, sign in, receive webhooks and trigger events', 'cli/README.md'),
      guide('mcp', 'MCP server', 'six tools with which a model pays', 'mcp/README.md'),
      guide('gate', 'Gate', 'a price on any API, without changing it', 'gate/README.md'),
      guide('x402', 'x402', 'be paid by unmodified clients of x402', 'docs/x402.md'),
      guide('comparison', 'Comparison', 'Quittance beside x402, Stripe and others', 'docs/comparison.md'),
      guide('glossary', 'Glossary', 'one word for each thing', 'docs/glossary.md'),
    ],
  },
  {
    title: 'Run it yourself',
    guides: [
      guide('self-hosting', 'Self-hosting', 'what it takes, and the way from one machine to a cluster'),
      guide('deployment', 'Compose', 'the image, its settings and its keys', 'docs/deployment.md'),
      guide('kubernetes', 'Kubernetes', 'the manifests and how to change them', 'docs/kubernetes.md'),
      guide('operations', 'Operations', 'commands, alerts, backup and rotation', 'docs/operations.md'),
      guide(
        'runbook',
        'Runbook',
        'what to do for each alarm, and for a customer’s question',
        'docs/runbook.md',
      ),
      guide(
        'economics',
        'Economics',
        'what the platform pays for others, and its bounds',
        'docs/economics.md',
      ),
      guide(
        'threat-model',
        'Threat model',
        'what the compromise of each part gives, and the tests that hold it',
        'docs/threat-model.md',
      ),
    ],
  },
];

export const GUIDES: readonly Guide[] = GUIDE_GROUPS.flatMap(({ guides }) => guides);

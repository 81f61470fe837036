/**
 * The guides beside the reference. The gateway serves them at /docs/guides/<name>, from the same
 * Markdown that the repository has.
 */

export type Guide = {
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
      guide('quickstart-vendor', 'Sell an API', 'put a price on a route, and get paid'),
      guide('quickstart-buyer', 'Pay for an API', 'a fetch that pays within limits, and the same with curl'),
      guide(
        'quickstart-agent',
        'Give an agent a budget',
        'one key with limits, for MCP, shells and programs',
      ),
      guide('test-environment', 'Test', 'test money, and amounts that cause each failure'),
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
      guide('webhooks', 'Webhooks', 'receive, verify and redeliver events'),
      guide('events', 'Events', 'every event with an example of its payload'),
      guide('limits', 'Limits and fees', 'request limits, sizes, periods, caps and the fee'),
      guide('receipts', 'Receipts', 'a signed receipt that anyone can verify'),
    ],
  },
  {
    title: 'Go live',
    guides: [
      guide('going-live', 'Go live', 'a checklist for vendors and buyers'),
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
      guide('x402', 'x402', 'be paid by unmodified clients of x402', 'docs/x402.md'),
    ],
  },
];

export const GUIDES: readonly Guide[] = GUIDE_GROUPS.flatMap(({ guides }) => guides);

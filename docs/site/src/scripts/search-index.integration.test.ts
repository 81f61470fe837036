import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { createSearchIndex, findSections, type Section } from './search-index.ts';

/** The search over the pages as set-up has built them. */
const sections = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../dist/docs/search.json'), 'utf8'),
) as Section[];
const index = createSearchIndex(sections);
const found = (query: string): string[] => findSections(index, query).map(({ url }) => url);

/**
 * What readers type, and the guide that has to be among the first results: the first one, if no
 * other number is named. A guide without `#` may be found by any of its sections.
 */
const QUERIES: readonly [query: string, guide: string, among?: number][] = [
  // Readers have typed these and found nothing, or something else first.
  ['price below one cent', 'faq#can-i-charge-less-than-a-cent', 3],
  ['streaming tokens openai', 'llm-by-tokens'],
  ['team members', 'faq#are-there-team-members-and-roles'],
  ['reconcile', 'books'],
  ['fees earned', 'books'],
  ['flask', 'python'],
  ['solana wallet phantom', 'checkout#which-wallets'],
  ['chargeback', 'faq#can-a-payment-be-charged-back'],
  ['delete account', 'close-account'],
  ['webhook signature', 'webhooks'],
  ['replicas', 'proxies-and-browsers#several-instances'],
  ['retry', 'idempotency'],
  ['refund', 'refunds'],
  // What else people of this trade look for.
  ['vllm', 'llm-by-tokens'],
  ['fastapi', 'python'],
  ['503 no_quote', 'troubleshooting'],
  ['payer would pay itself', 'troubleshooting'],
  ['ResourceMismatchError', 'proxies-and-browsers#publicurl-is-what-buyers-type'],
  ['how much does it cost', 'faq#what-does-a-payment-cost', 3],
  ['invoice', 'books'],
  ['qr code', 'checkout'],
  ['429 rate limit', 'limits'],
  ['stripe', 'comparison'],
  ['docker', 'deployment'],
  ['claude mcp', 'agents#mcp'],
  ['payout to bank', 'faq#how-do-i-get-the-money-to-a-bank'],
  ['rotate api key', 'authentication', 3],
  ['paid twice after timeout', 'idempotency', 3],
];

test.each(QUERIES)('“%s” leads to %s', (query, guide, among = 1) => {
  const wanted = `/docs/guides/${guide}`;
  const first = found(query)
    .slice(0, among)
    .map((url) => (guide.includes('#') ? url : url.replace(/#.*/, '')));
  expect([first, first.includes(wanted)]).toEqual([first, true]);
});

test('a section that guide and reference have is shown once, as the guide', () => {
  const titles = findSections(index, 'refund.finalized').map(({ title }) => title);
  expect(titles.filter((title) => title === 'refund.finalized')).toHaveLength(1);
  expect(found('refund.finalized')[0]).toBe('/docs/guides/events#refundfinalized');
});

test('a short word has no neighbours, and a long one may have one wrong letter', () => {
  // “tab” is one letter from “tap”, “retry” two from “entry”.
  const texts = (query: string) =>
    findSections(index, query).map(({ title, page, text }) => `${title} ${page} ${text}`.toLowerCase());
  expect(texts('tab').filter((text) => !/\btab/.test(text))).toEqual([]);
  expect(found('settlemant').length).toBeGreaterThan(10);
});

test('nothing is found for nothing, for noise, and for marks alone', () => {
  expect(['', '   ', '?!', 'xyzzyplugh'].map(found)).toEqual([[], [], [], []]);
});

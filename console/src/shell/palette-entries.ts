import { GUIDES } from '../generated/guides.ts';
import type { AREAS } from './routes.ts';

/** What the command palette offers. Pure. */

type Entry = { to: string; text: string; note?: string };
type Group = { heading: string; entries: readonly Entry[] };

/** An id or a transaction, and the pages that show what it names. */
const OBJECTS: readonly (readonly [RegExp, (id: string) => readonly Entry[]])[] = [
  [
    /^stl_[0-9a-z]{26}$/,
    (id) => [
      { to: `/payments/${id}`, text: 'Open the payment', note: id },
      { to: `/sales/${id}`, text: 'Open the sale', note: id },
    ],
  ],
  [
    /^q_[0-9a-z]{26}$/,
    (id) => [{ to: `/sales?time=month&find=${id}`, text: 'Find the quote in Sales', note: id }],
  ],
  [/^apr_[0-9a-z]{26}$/, (id) => [{ to: `/approvals/${id}`, text: 'Open the approval', note: id }]],
  [
    /^del_[0-9a-z]{26}$/,
    (id) => [{ to: `/activity?delegate=${id}`, text: 'Payments of the agent', note: id }],
  ],
  [
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    (id) => [{ to: `/services/${id}`, text: 'Open the service', note: id }],
  ],
  [
    /^[1-9A-HJ-NP-Za-km-z]{64,88}$/,
    (hash) => [
      { to: `/activity?find=${hash}`, text: 'Find the transaction in Activity', note: hash },
      { to: `/sales?time=month&find=${hash}`, text: 'Find the transaction in Sales', note: hash },
    ],
  ],
];

const includes = (text: string, typed: string): boolean => text.toLowerCase().includes(typed.toLowerCase());

/** The entries that fit what was typed, in groups. Nothing typed: all pages and guides. */
export const groupsOf = (typed: string, areas: typeof AREAS): readonly Group[] => {
  const wanted = typed.trim();
  const found = OBJECTS.find(([pattern]) => pattern.test(wanted))?.[1](wanted) ?? [];
  const pages = areas.flatMap((area) =>
    area.pages.flatMap(({ path, nav }) => (nav === undefined ? [] : [{ to: path, text: nav }])),
  );
  const documents = [
    { to: '/docs', text: 'API reference' },
    { to: '/docs/errors', text: 'Error codes' },
    ...GUIDES.map(({ name, title }) => ({ to: `/docs/guides/${name}`, text: title })),
  ];
  return [
    { heading: 'Found', entries: found },
    { heading: 'Pages', entries: pages.filter(({ text }) => includes(text, wanted)) },
    { heading: 'Guides', entries: documents.filter(({ text }) => includes(text, wanted)) },
  ].filter(({ entries }) => entries.length > 0);
};

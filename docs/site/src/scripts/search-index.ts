/** What the search of the documentation finds, in which order. It needs no page. */
import MiniSearch, { type Query, type SearchResult } from 'minisearch';
import { SYNONYMS } from './synonyms.ts';

/** A part of a page, as docs/site/sections.ts makes it. */
export type Section = { url: string; page: string; title: string; text: string };
export type Found = Section & Pick<SearchResult, 'terms'>;
export type SearchIndex = MiniSearch<Section>;

/** With fewer results than this, sections that have only some of the words are shown too. */
const FEW = 3;
/** A synonym counts less than the word that was typed. */
const SYNONYM_WEIGHT = 0.4;

/** Words of questions that say nothing about the answer. */
const SILENT = new Set(
  'a after an and api are be can do does for from how i if in is it me much my of on one or out that the this to what when where which who why will with you'.split(
    ' ',
  ),
);

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}_.-]+/u).filter(Boolean);

/** The words of a text, whole and by their parts, which names of errors and events have. */
const tokensOf = (text: string): string[] => [
  ...new Set([...wordsOf(text), ...text.split(/[^\p{L}\p{N}_.]+/u), ...text.split(/[^\p{L}\p{N}]+/u)]),
];

/** What a reader came for is mostly a guide, then a document, then a call, then the history. */
const weightOf = (url: string): number => {
  const kind = url.startsWith('/docs/api') || url.startsWith('/docs/guides/events') ? 0.5 : 1;
  const history = url.startsWith('/docs/guides/changelog') ? 0.2 : 1;
  // Lists of pages name every word, and answer nothing.
  const list = /^\/(docs(\/guides)?)?(#|$)/.test(url) ? 0.3 : 1;
  // A page about a word comes before the sections that name it.
  return kind * history * list * (url.includes('#') ? 1 : 1.6);
};

/** An index of all sections. */
export const createSearchIndex = (sections: readonly Section[]): SearchIndex => {
  const index = new MiniSearch<Section>({
    idField: 'url',
    fields: ['title', 'page', 'text'],
    storeFields: ['url', 'page', 'title', 'text'],
    tokenize: tokensOf,
    searchOptions: {
      boost: { title: 4, page: 2 },
      prefix: (term) => term.length > 2,
      // One wrong letter in a long word. A short word has too many neighbours.
      fuzzy: (term) => (term.length > 6 ? 1 : false),
      weights: { fuzzy: 0.1, prefix: 0.4 },
      boostDocument: weightOf,
      tokenize: wordsOf,
    },
  });
  index.addAll(sections);
  return index;
};

/** The entry of the table for a word, also for its plural. */
const synonymsOf = (word: string): readonly string[] => {
  const lower = word.toLowerCase();
  for (const form of [lower, lower.replace(/s$/, ''), lower.replace(/ies$/, 'y')])
    if (Object.hasOwn(SYNONYMS, form)) return SYNONYMS[form]!;
  return [];
};

/** A word, or its parts (`next.js`), or its synonyms with less weight. */
const withSynonyms = (word: string): Query => {
  const parts = word.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const others = [...(parts.length > 1 ? [parts.join(' ')] : []), ...synonymsOf(word)];
  const synonyms = others.map(
    (queries): Query => ({
      queries: wordsOf(queries),
      combineWith: 'AND',
      boostDocument: (url: string) => weightOf(url) * SYNONYM_WEIGHT,
    }),
  );
  return synonyms.length === 0 ? word : { combineWith: 'OR', queries: [word, ...synonyms] };
};

/** One result of each title where guide and reference have the same section: the first. */
const withoutDoubles = (results: readonly Found[]): Found[] => {
  const seen = new Set<string>();
  return results.filter(({ url, title }) => {
    const isDouble = url.includes('#') && seen.has(title);
    seen.add(title);
    return !isDouble;
  });
};

/** The sections for a query, best first. */
export const findSections = (index: SearchIndex, query: string): Found[] => {
  const words = wordsOf(query);
  const useful = words.filter((word) => !SILENT.has(word.toLowerCase()));
  const queries = (useful.length > 0 ? useful : words).map(withSynonyms);
  if (queries.length === 0) return [];
  const all = index.search({ combineWith: 'AND', queries });
  const some = all.length < FEW ? index.search({ combineWith: 'OR', queries }) : [];
  const known = new Set(all.map(({ id }) => id));
  const results = [...all, ...some.filter(({ id }) => !known.has(id))] as unknown as Found[];
  const named = ({ title }: Found): number => Number(title.toLowerCase() === query.trim().toLowerCase());
  return withoutDoubles(results.toSorted((a, b) => named(b) - named(a)));
};

import {
  type Change,
  CLASSES,
  type Class,
  type Comparison,
  deprecationChanges,
  isCompared,
  type Reader,
  schemaChanges,
} from './schema-changes.ts';
import { type Entry, PARTS, type Part, type PartName, type Surface } from './surface.ts';

/** What is different between two surfaces, and what that means for those who build on them. */

export type SurfaceChange = Change & { part: PartName };

const NONE: Part = { entries: {}, definitions: {} };

/**
 * The class of a new entry. A new call needs the service that answers it first; a message waits.
 */
const classOfNew = (part: PartName, name: string): Class =>
  part === 'Bus' && !name.startsWith('call ') ? 'none' : 'minor';

const limitChanges = (before: Entry, after: Entry, place: string): Change[] => {
  const [old, now] = [before.limits ?? {}, after.limits ?? {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((limit): Change[] => {
    const [was, is] = [old[limit] ?? Infinity, now[limit] ?? Infinity];
    if (was === is) return [];
    const text = (calls: number) => (calls === Infinity ? 'any number' : String(calls));
    return [
      { place, what: `${text(is)} calls ${limit}, was ${text(was)}`, class: is < was ? 'major' : 'minor' },
    ];
  });
};

/**
 * An operation may fail in other ways. Only a code that is gone everywhere is missed by somebody.
 */
const errorChanges = (before: Entry, after: Entry, place: string): Change[] => {
  const [old, now] = [before.errors ?? [], after.errors ?? []];
  return [
    ...now.filter((code) => !old.includes(code)).map((code) => `may answer ${code}`),
    ...old.filter((code) => !now.includes(code)).map((code) => `never answers ${code}`),
  ].map((what) => ({ place, what, class: 'minor' }));
};

const fixedChanges = (before: Entry, after: Entry, place: string): Change[] =>
  Object.entries(before.is ?? {}).flatMap(([name, was]): Change[] => {
    const is = after.is?.[name];
    return is === was ? [] : [{ place, what: `${name} ${is}, was ${was}`, class: 'major' }];
  });

const READERS = { takes: 'we', gives: 'others', passes: 'peers', asks: 'callee' } as const satisfies Record<
  string,
  Reader
>;

const partChanges = (part: PartName, before: Surface, after: Surface): Change[] => {
  // Events share the shapes of the API.
  const definitionsOf = (surface: Surface) => ({
    ...surface.API?.definitions,
    ...surface[part]?.definitions,
  });
  const comparison: Comparison = {
    before: definitionsOf(before),
    after: definitionsOf(after),
    // An operator reads the new default in the changelog, and a client cannot.
    defaults: part === 'API' ? 'major' : 'minor',
    compared: new Set(),
  };
  const [old, now] = [before[part] ?? NONE, after[part] ?? NONE];
  const names = [...new Set([...Object.keys(old.entries), ...Object.keys(now.entries)])];
  const changes = names.flatMap((name): Change[] => {
    const [was, is] = [old.entries[name], now.entries[name]];
    if (was === undefined) return [{ place: name, what: 'is new', class: classOfNew(part, name) }];
    if (is === undefined) return [{ place: name, what: 'is gone', class: 'major' }];
    return [
      ...Object.entries(READERS).flatMap(([side, reader]) =>
        schemaChanges(
          comparison,
          was[side as keyof typeof READERS] ?? {},
          is[side as keyof typeof READERS] ?? {},
          reader,
          name,
        ),
      ),
      ...deprecationChanges(was, is, name),
      ...limitChanges(was, is, name),
      ...errorChanges(was, is, name),
      ...fixedChanges(was, is, name),
    ];
  });
  const shapeChanges = names.flatMap((name): Change[] => {
    const [was, is] = [old.entries[name]?.shape, now.entries[name]?.shape];
    return was === undefined || is === undefined || isCompared(comparison, was, is)
      ? []
      : schemaChanges(comparison, was, is, 'others', name);
  });
  return [...changes, ...shapeChanges];
};

const rank = (one: Class): number => CLASSES.indexOf(one);
/** The strongest class of some changes. */
export const strongestOf = (changes: readonly { class: Class }[]): Class =>
  CLASSES[Math.max(0, ...changes.map((each) => rank(each.class)))]!;

/** What one cause changes in many operations and shapes at once. */
const ANYWHERE = /^(pattern|may answer|never answers) | calls per /;
/** Places that one sentence can name: the same field of several shapes, or anything else. */
const groupOf = ({ place, what }: Change): string =>
  ANYWHERE.test(what) ? what : `${place.replace(/^.*[. ]/, '')}: ${what}`;

const MOST_PLACES = 3;
const merged = (changes: readonly SurfaceChange[]): SurfaceChange => {
  const [{ part, what, class: of }] = changes as [SurfaceChange];
  const places = [...new Set(changes.map(({ place }) => place))];
  const rest = places.length - MOST_PLACES;
  const named = rest > 1 ? [...places.slice(0, MOST_PLACES), `${rest} more`] : places;
  return { part, place: named.join(', '), what, class: of };
};

/**
 * The changes between two surfaces, the strongest of each part first. A part that one of them does
 * not have is not compared. A shape that is both sent and read makes one line, and so does a field
 * that several shapes have.
 */
export const surfaceChanges = (before: Surface, after: Surface): SurfaceChange[] =>
  PARTS.filter((part) => before[part] !== undefined && after[part] !== undefined).flatMap((part) => {
    const strongest = new Map<string, SurfaceChange>();
    for (const change of partChanges(part, before, after)) {
      const key = `${change.place}: ${change.what}`;
      const known = strongest.get(key);
      if (known === undefined || rank(change.class) > rank(known.class))
        strongest.set(key, { part, ...change });
    }
    return [...Map.groupBy(strongest.values(), (change) => `${change.class} ${groupOf(change)}`).values()]
      .map(merged)
      .sort((a, b) => rank(b.class) - rank(a.class));
  });

/**
 * The words of a class. Both sides of the bus are ours, so its changes are about the order of a
 * release.
 */
const WORDS: Record<Class, string> = { major: 'breaking', minor: 'needs order', none: 'free' };
export const wordOf = ({ part, class: of }: SurfaceChange): string => (part === 'Bus' ? WORDS[of] : of);

/** A change as it is named in the list of accepted ones. */
export const lineOf = ({ part, place, what }: SurfaceChange): string => `${part} ${place}: ${what}`;

import { isDeepStrictEqual } from 'node:util';
import { BOUNDS, type Definitions, kindOf, type Member, membersOf, type Schema, valuesOf } from './schema.ts';

/**
 * What a change means for those who build on an interface. For the bus, whose two sides are ours,
 * `major` breaks neighbouring versions, `minor` needs the reader one release before the writer, and
 * `none` is free.
 */
export type Class = 'none' | 'minor' | 'major';
export const CLASSES: readonly Class[] = ['none', 'minor', 'major'];
export type Change = { place: string; what: string; class: Class };

/**
 * Who reads a value. `we`: others send it, as a request or a setting. `others`: we send it, as an
 * answer or an event. `peers`: services of two versions send it to each other, and a reader ignores
 * fields that it does not know. `callee`: the same, with a reader that refuses such fields.
 */
export type Reader = 'we' | 'others' | 'peers' | 'callee';

type Effect = 'narrower' | 'wider' | 'higher bound' | 'gone' | 'different' | 'new' | 'new and required';
/** docs/versioning.md has the same table in words. */
const CLASS: Record<Effect, Record<Reader, Class>> = {
  narrower: { we: 'major', others: 'minor', peers: 'major', callee: 'major' },
  wider: { we: 'minor', others: 'major', peers: 'minor', callee: 'minor' },
  'higher bound': { we: 'minor', others: 'minor', peers: 'minor', callee: 'minor' },
  gone: { we: 'major', others: 'major', peers: 'major', callee: 'major' },
  // Whether another pattern or text admits more or less cannot be judged.
  different: { we: 'major', others: 'major', peers: 'major', callee: 'major' },
  new: { we: 'minor', others: 'minor', peers: 'none', callee: 'minor' },
  'new and required': { we: 'major', others: 'minor', peers: 'major', callee: 'major' },
};
/** A function takes what its caller gives. */
const FLIPPED: Record<Reader, Reader> = { we: 'others', others: 'we', peers: 'peers', callee: 'callee' };

const LONGEST_TEXT = 40;
const text = (value: unknown): string => {
  const whole = JSON.stringify(value) ?? 'none';
  return whole.length > LONGEST_TEXT ? `${whole.slice(0, LONGEST_TEXT)}…` : whole;
};
const titleOf = ({ schema, name }: Member): string =>
  name ?? (valuesOf(schema) === undefined ? kindOf(schema) : valuesOf(schema)!.map(text).join(' or '));

const remove = <T>(list: T[], item: T): void => void list.splice(list.indexOf(item), 1);

/** Whether two objects have the same constant in a field, which tells them from the others. */
const haveSameTag = ({ schema: one }: Member, { schema: other }: Member): boolean =>
  Object.entries(one.properties ?? {}).some(([name, field]) => {
    const values = valuesOf(field);
    return values?.length === 1 && isDeepStrictEqual(values, valuesOf(other.properties?.[name] ?? {}));
  });
const LIKENESSES: readonly ((one: Member, other: Member) => boolean)[] = [
  (one, other) => isDeepStrictEqual(one, other),
  (one, other) => one.name !== undefined && one.name === other.name,
  haveSameTag,
  (one, other) => kindOf(one.schema) === kindOf(other.schema),
  () => true,
];

/** Which alternative became which. Only a schema that is no union may become something else. */
const pairUp = (before: Member[], after: Member[]) => {
  const [gone, added] = [[...before], [...after]];
  const pairs: [Member, Member][] = [];
  const single = before.length === 1 && after.length === 1;
  for (const alike of single ? LIKENESSES : LIKENESSES.slice(0, -1))
    for (const one of [...gone]) {
      const other = added.find((each) => alike(one, each));
      if (other === undefined) continue;
      pairs.push([one, other]);
      remove(gone, one);
      remove(added, other);
    }
  return { pairs, gone, added };
};

/** Two surfaces whose schemas are compared. */
export type Comparison = {
  before: Definitions;
  after: Definitions;
  /** What another default means. */
  defaults: Class;
  /** The pairs of named schemas that were compared. What many operations share makes one line. */
  compared: Set<string>;
};

const pairOf = (before: Schema, after: Schema, reader: Reader): string =>
  [before.$ref, after.$ref, reader].join(' ');
/** Whether a pair is compared for the first time. */
const isFirst = ({ compared }: Comparison, pair: string): boolean => {
  const known = compared.has(pair);
  compared.add(pair);
  return !known;
};

/** Whether two named schemas were compared for any reader. */
export const isCompared = ({ compared }: Comparison, before: Schema, after: Schema): boolean =>
  (Object.keys(FLIPPED) as Reader[]).some((reader) => compared.has(pairOf(before, after, reader)));

type Of = (effect: Effect, what: string) => Change;
const changeAt =
  (place: string, reader: Reader): Of =>
  (effect, what) => ({ place, what, class: CLASS[effect][reader] });

/** What differs between two schemas, for the one who reads the value. */
export const schemaChanges = (
  comparison: Comparison,
  before: Schema,
  after: Schema,
  reader: Reader,
  place: string,
): Change[] => {
  if (before.$ref !== undefined && after.$ref !== undefined)
    if (!isFirst(comparison, pairOf(before, after, reader))) return [];
  const { pairs, gone, added } = pairUp(
    membersOf(before, comparison.before),
    membersOf(after, comparison.after),
  );
  const of = changeAt(place, reader);
  const isNull = ({ schema }: Member) => kindOf(schema) === 'null';
  const isOpen = [before, after].some(({ further }) => further === true);
  return [
    ...pairs.flatMap(([one, other]) => memberChanges(comparison, one, other, reader, place)),
    ...gone.map((each) =>
      isNull(each) ? of('narrower', 'is never null') : of('gone', `${titleOf(each)} is gone`),
    ),
    ...added.map((each) =>
      isNull(each) ? of('wider', 'may be null') : of(isOpen ? 'new' : 'wider', `may be ${titleOf(each)}`),
    ),
  ];
};

const memberChanges = (
  comparison: Comparison,
  one: Member,
  other: Member,
  reader: Reader,
  at: string,
): Change[] => {
  // An object that contains itself beside null, for instance.
  if (one.ref !== undefined && other.ref !== undefined)
    if (!isFirst(comparison, `member ${one.ref} ${other.ref} ${reader}`)) return [];
  const place = other.name ?? one.name ?? at;
  const [before, after] = [one.schema, other.schema];
  const of = changeAt(place, reader);
  const [was, is] = [kindOf(before), kindOf(after)];
  if (was !== is) {
    const isWider = is === 'any' || (was === 'integer' && is === 'number');
    const isNarrower = was === 'any' || (was === 'number' && is === 'integer');
    return [of(isWider ? 'wider' : isNarrower ? 'narrower' : 'different', `is ${is}, was ${was}`)];
  }
  return [
    ...valueChanges(before, after, of),
    ...boundChanges(before, after, of),
    ...formChanges(before, after, of),
    ...(reader === 'we' ? defaultChanges(before, after, { place, class: comparison.defaults }) : []),
    ...fieldChanges(comparison, one, other, reader, place),
    ...partChanges(comparison, before, after, reader, place),
    ...callChanges(comparison, before, after, reader, place),
  ];
};

const isRequired = ({ required = [] }: Schema, name: string): boolean => required.includes(name);

const fieldChanges = (
  comparison: Comparison,
  one: Member,
  other: Member,
  reader: Reader,
  place: string,
): Change[] => {
  const [before, after] = [one.schema, other.schema];
  const { properties: old = {} } = before;
  const { properties: now = {} } = after;
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) => {
    const at = `${other.owners[name] ?? one.owners[name] ?? place}.${name}`;
    const of = changeAt(at, reader);
    const [was, is] = [old[name], now[name]];
    const [did, does] = [isRequired(before, name), isRequired(after, name)];
    if (is === undefined) return [of('gone', 'is gone')];
    if (was === undefined)
      return does && reader !== 'others'
        ? [of('new and required', 'is new and required')]
        : [of('new', 'is new')];
    return [
      ...(did === does ? [] : [does ? of('narrower', 'is required') : of('wider', 'is optional')]),
      ...deprecationChanges(was, is, at),
      ...schemaChanges(comparison, was, is, reader, at),
    ];
  });
};

/** A mark of what a later release removes needs a release of its own. */
export const deprecationChanges = (
  { deprecated: was = false }: { deprecated?: boolean },
  { deprecated: is = false }: { deprecated?: boolean },
  place: string,
): Change[] =>
  was === is ? [] : [{ place, what: is ? 'is deprecated' : 'is no longer deprecated', class: 'minor' }];

/** The items of lists, and the names and values of maps. */
const partChanges = (
  comparison: Comparison,
  before: Schema,
  after: Schema,
  reader: Reader,
  place: string,
): Change[] => {
  const both = (one: unknown, other: unknown, at: string): Change[] =>
    typeof one === 'object' && typeof other === 'object'
      ? schemaChanges(comparison, one as Schema, other as Schema, reader, at)
      : [];
  const { additionalProperties: old = true, prefixItems: oldItems = [] } = before;
  const { additionalProperties: now = true, prefixItems: nowItems = [] } = after;
  const of = changeAt(place, reader);
  const isStricter = now === false && old !== false;
  const isLooser = old === false && now !== false;
  return [
    // Others and peers ignore fields that they do not know.
    ...(reader === 'we' && isStricter ? [of('narrower', 'refuses further fields')] : []),
    ...(reader === 'we' && isLooser ? [of('wider', 'takes further fields')] : []),
    ...both(old, now, `${place}.*`),
    ...both(before.propertyNames, after.propertyNames, `${place}.*`),
    ...both(before.items, after.items, `${place}[]`),
    ...(oldItems.length === nowItems.length
      ? oldItems.flatMap((each, index) => both(each, nowItems[index], `${place}[${index}]`))
      : [of('different', `has ${nowItems.length} items, had ${oldItems.length}`)]),
  ];
};

const argumentsOf = ({ params, optional }: NonNullable<Schema['call']>): Member => {
  const names = params.map((_, index) => `argument ${index + 1}`);
  const properties = Object.fromEntries(params.map((each, index) => [names[index]!, each]));
  return {
    schema: { properties, required: names.slice(0, names.length - optional) },
    owners: {},
  };
};

const callChanges = (
  comparison: Comparison,
  before: Schema,
  after: Schema,
  reader: Reader,
  place: string,
): Change[] => {
  if (before.call === undefined || after.call === undefined) return [];
  const [old, now] = [before.call, after.call];
  return [
    ...fieldChanges(comparison, argumentsOf(old), argumentsOf(now), FLIPPED[reader], place),
    ...schemaChanges(comparison, old.returns, now.returns, reader, `${place}()`),
  ];
};

const defaultChanges = (
  { default: old }: Schema,
  { default: now }: Schema,
  change: Omit<Change, 'what'>,
): Change[] =>
  isDeepStrictEqual(old, now) ? [] : [{ ...change, what: `default ${text(now)}, was ${text(old)}` }];

const valueChanges = (before: Schema, after: Schema, of: Of): Change[] => {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  if (old === undefined && now === undefined) return [];
  if (old === undefined) return [of('narrower', `is ${now!.map(text).join(' or ')}`)];
  if (now === undefined) return [of('wider', 'is any text')];
  const isOpen = before.further === true || after.further === true;
  return [
    ...old.filter((each) => !now.includes(each)).map((each) => of('gone', `${text(each)} is gone`)),
    ...now
      .filter((each) => !old.includes(each))
      .map((each) => of(isOpen ? 'new' : 'wider', `may be ${text(each)}`)),
  ];
};

const boundChanges = (before: Schema, after: Schema, of: Of): Change[] =>
  (Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]).flatMap((bound) => {
    const [old, now] = [before[bound], after[bound]];
    if (old === now) return [];
    const isWider =
      now === undefined || (old !== undefined && (BOUNDS[bound] === 'higher' ? now > old : now < old));
    return [of(isWider ? 'higher bound' : 'narrower', `${bound} ${text(now)}, was ${text(old)}`)];
  });

const formChanges = (before: Schema, after: Schema, of: Of): Change[] =>
  (['pattern', 'format'] as const).flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    if (old === now) return [];
    const effect = old === undefined ? 'narrower' : now === undefined ? 'wider' : 'different';
    return [of(effect, `${name} ${text(now)}, was ${text(old)}`)];
  });

import fc from 'fast-check';

/**
 * Inputs that are almost valid. Random bytes end at the first check of a parser, so a valid value
 * is changed a little: in its fields, in its JSON text, and in its bytes.
 */

/** JSON.stringify cannot write it, so a text stands for it until the text is made. */
const DEEP = /"deep:(\d+)"/g;

/** Values at which parsers differ or fail. */
const ODD_TEXTS = [
  ...['', ' ', '\u0000', 'a\u0000b', '\u0000'.repeat(64), '\ud800', '\udfff\ud800', '\ufeff', '\u202e'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'NaN', '-0', '0x10', '1e3', '٣'],
  ...['-1', '00', '1.5', '9'.repeat(19), '9'.repeat(400), `${2n ** 63n}`, `${2n ** 64n}`, '1_000'],
  ...['a'.repeat(5000), '=', '====', '.', '..', '...', '|', '","', "';--", '%00', '%', '%zz', '\r\n', '日本'],
  ...['0001-01-01T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', '9999-99-99T99:99:99Z'],
  ...['http://', 'http://[', 'javascript:1', '//', 'https://a@b:c@d', 'https://[::1]:99999/'],
];
const oddText = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));
const oddNumber = fc.oneof(
  fc.constantFrom(0, -1, 0.1, 1e21, 1e308, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53) - 2, 1e15, 8.64e15 + 1),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const deep = fc.constantFrom(10, 40, 1000, 20_000).map((levels) => `deep:${levels}`);
const odd: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: oddText },
  { weight: 3, arbitrary: oddNumber },
  { weight: 3, arbitrary: fc.constantFrom(null, true, false, [], {}, [null], { toString: 1 }, [[]]) },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

type Container = Record<string, unknown> | unknown[];
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** Each place of a value: the object or list, and the name in it. */
const placesOf = (value: unknown): [Container, string][] =>
  isContainer(value)
    ? Object.entries(value).flatMap(([name, each]) => [[value, name], ...placesOf(each)])
    : [];

type FieldChange = { at: number; kind: 'replace' | 'remove' | 'add' | 'copy'; value: unknown; name: string };
const fieldChange: fc.Arbitrary<FieldChange> = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom(
    'replace' as const,
    'replace' as const,
    'remove' as const,
    'add' as const,
    'copy' as const,
  ),
  value: odd,
  name: oddText,
});

const addField = (holder: Container, name: string, value: unknown): void => {
  if (Array.isArray(holder)) holder.push(value);
  // Defined, because an assignment to __proto__ would change the prototype.
  else Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
};

const changeField = (root: unknown, { at, kind, value: shared, name }: FieldChange): unknown => {
  // A later change may change it, and it is the same object in other inputs.
  const value = structuredClone(shared);
  const places = placesOf(root);
  const [holder, field] = places[at % Math.max(1, places.length)] ?? [];
  if (holder === undefined || field === undefined) return value;
  const fields = holder as Record<string, unknown>;
  if (kind === 'replace') fields[field] = value;
  else if (kind === 'copy') fields[field] = structuredClone(places[(at >> 8) % places.length]![0]);
  else if (kind === 'add') addField(holder, name, value);
  else if (Array.isArray(holder)) holder.splice(Number(field), 1);
  else delete fields[field];
  return root;
};

/** A value with up to three changed fields. */
export const changedFields = <T>(valid: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc
    .tuple(valid, fc.array(fieldChange, { maxLength: 3 }))
    .map(([value, changes]) =>
      changes.reduce<unknown>((root, change) => changeField(root, change), structuredClone(value)),
    );

/** The JSON text of a value, with what JSON.stringify cannot write. */
const jsonText = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replace(
    DEEP,
    (_text, levels: string) => '['.repeat(Number(levels)) + ']'.repeat(Number(levels)),
  );

/** A name that occurs twice, with another value before or after the first. */
const doubledName = (text: string, at: number): string => {
  const names = [...text.matchAll(/"((?:[^"\\]|\\.)*)":/g)];
  const found = names[at % Math.max(1, names.length)];
  return found === undefined
    ? text
    : `${text.slice(0, found.index)}${found[0]}${at % 2 === 0 ? 'null' : '"x"'},${text.slice(found.index)}`;
};

/** JSON texts of changed values, some with a name twice, some changed as texts. */
export const changedJson = <T>(valid: fc.Arbitrary<T>): fc.Arbitrary<string> => {
  const text = changedFields(valid).map(jsonText);
  return fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 1, arbitrary: fc.tuple(text, fc.nat()).map(([json, at]) => doubledName(json, at)) },
    { weight: 2, arbitrary: changedText(text) },
  );
};

type TextChange = {
  at: number;
  length: number;
  kind: 'cut' | 'drop' | 'double' | 'insert' | 'case';
  text: string;
};
const textChange: fc.Arbitrary<TextChange> = fc.record({
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 40 }),
  kind: fc.constantFrom(
    'cut' as const,
    'drop' as const,
    'double' as const,
    'insert' as const,
    'case' as const,
  ),
  text: oddText,
});

const changeText = (whole: string, { at, length, kind, text }: TextChange): string => {
  const place = at % (whole.length + 1);
  const [before, after] = [whole.slice(0, place), whole.slice(place)];
  if (kind === 'cut') return before;
  if (kind === 'drop') return before + after.slice(length);
  if (kind === 'double') return before + after.slice(0, length) + after;
  if (kind === 'insert') return before + text + after;
  const swapped = after.slice(0, length);
  const upper = swapped.toUpperCase();
  return before + (upper === swapped ? swapped.toLowerCase() : upper) + after.slice(length);
};

/** Texts with up to three changes. */
export const changedText = (valid: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(valid, fc.array(textChange, { maxLength: 3 }))
    .map(([text, changes]) => changes.reduce(changeText, text));

type ByteChange = { at: number; bit: number; kind: 'flip' | 'set' | 'cut' | 'drop' | 'double'; byte: number };
const byteChange: fc.Arbitrary<ByteChange> = fc.record({
  at: fc.nat(),
  bit: fc.nat({ max: 7 }),
  kind: fc.constantFrom(...(['flip', 'flip', 'set', 'cut', 'drop', 'double'] as const)),
  byte: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0x81, 0xff), fc.nat({ max: 255 })),
});

const changeBytes = (whole: Buffer, { at, bit, kind, byte }: ByteChange): Buffer => {
  const place = at % Math.max(1, whole.length);
  if (whole.length === 0) return Buffer.of(byte);
  if (kind === 'cut') return whole.subarray(0, place);
  if (kind === 'drop') return Buffer.concat([whole.subarray(0, place), whole.subarray(place + 1 + bit)]);
  if (kind === 'double') return Buffer.concat([whole.subarray(0, place + 1 + bit), whole.subarray(place)]);
  const changed = Buffer.from(whole);
  changed[place] = kind === 'set' ? byte : changed[place]! ^ (1 << bit);
  return changed;
};

/** Bytes with up to four changes. */
export const changedBytes = (valid: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(valid, fc.array(byteChange, { maxLength: 4 }))
    .map(([bytes, changes]) => changes.reduce(changeBytes, Buffer.from(bytes)));

/** Headers and parameters: almost valid, or any text. */
export const anyOrChanged = (valid: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 5, arbitrary: changedText(valid) }, { weight: 1, arbitrary: oddText });

export const inBase64 = (json: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  json.map((text) => Buffer.from(text).toString('base64'));
export const inBase64Url = (json: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  json.map((text) => Buffer.from(text).toString('base64url'));

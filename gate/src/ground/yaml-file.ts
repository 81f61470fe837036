import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type * as z from 'zod';
import { nearest } from '../../../sdk/src/paywall/adapter.ts';

/** A mistake in settings, with the place where it was made. */
export class SettingsError extends Error {}

type Place = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;
type Document = ReturnType<typeof parseDocument>;

const nameOf = (path: Place): string =>
  path.reduce<string>(
    (name, part) =>
      typeof part === 'number' ? `${name}[${part}]` : name === '' ? String(part) : `${name}.${String(part)}`,
    '',
  );

/** The mistakes in a value that may have several forms: those of the form that it nearly has. */
const withoutUnions = (issue: Issue): Issue[] => {
  if (issue.code !== 'invalid_union') return [issue];
  const forms = issue.errors.map((issues) =>
    issues.map((each) => ({ ...each, path: [...issue.path, ...each.path] }) as Issue),
  );
  const near = forms.find((issues) => issues.every(({ code }) => !/^invalid_(type|union)$/.test(code)));
  return near?.flatMap(withoutUnions) ?? [issue];
};

/** Where a path begins in the text. The nearest parent that is there, if it is missing. */
const offsetOf = (document: Document, path: Place): number => {
  for (let length = path.length; length > 0; length -= 1) {
    const last = path[length - 1];
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && key.value === last);
      if (isScalar(pair?.key) && pair.key.range) return pair.key.range[0];
    }
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
};

/** A file that was read, and the lines of mistakes in it. */
export type YamlFile = {
  value: unknown;
  /** One mistake: `gate.yaml:3: routes[0].price: is not set`. */
  mistake: (path: Place, message: string) => string;
  /**
   * The mistakes of a value at a path.
   * @param namesOf the settings that the map at a path can have
   */
  mistakes: (error: z.ZodError, at?: Place, namesOf?: (path: Place) => readonly string[]) => string[];
};

/**
 * Reads YAML or JSON. Only texts, lists and maps: `0.05` must not become a float, and `yes` no
 * boolean.
 * @param name of the file, for messages
 * @throws SettingsError with every mistake, each with its line
 */
export const readYaml = (name: string, content: string): YamlFile => {
  const lines = new LineCounter();
  const document = parseDocument(content, { schema: 'failsafe', lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => `${name}:${lines.linePos(offset).line}`;
  const broken = document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message}`);
  if (broken.length > 0) throw new SettingsError(broken.join('\n'));
  const mistake = (path: Place, message: string): string =>
    `${at(offsetOf(document, path))}: ${nameOf(path)}: ${message}`;
  return {
    value: document.toJS() ?? {},
    mistake,
    mistakes: (error, place = [], namesOf = undefined) =>
      error.issues.flatMap(withoutUnions).flatMap((issue) => {
        const path = [...place, ...issue.path];
        if (issue.code !== 'unrecognized_keys') return [mistake(path, issue.message)];
        const names = namesOf === undefined ? [] : namesOf(path);
        return issue.keys.map((key) => {
          const meant = nearest(key, names);
          const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
          return mistake([...path, key], `is no setting${guess}`);
        });
      }),
  };
};

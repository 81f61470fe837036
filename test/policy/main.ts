// `npm run prove -- policy`: is each condition of the policy needed by a row of its tables?
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readCommandLine } from '../../deploy/local/processes/command-line.ts';
import { listMutants, type Mutant, mutated } from './mutants.ts';

readCommandLine({
  typed: 'npm run prove -- policy',
  about: `Changes the policy for payments of other clients at one place at a time, and evaluates its tables
(policy-rows.ts and payment-shapes.ts of test/support/fixtures/chain-submitter) with each change. Prints the
changes that no row has found.`,
  options: {},
});

const root = path.resolve(import.meta.dirname, '../..');
const mutants = listMutants();
const MARK = 'mutant';

const markOf = (url: string): string | null =>
  URL.canParse(url) ? new URL(url).searchParams.get(MARK) : null;

// Each mutant has its own copy of all modules of ours, because the policy is imported by several.
registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const resolved = nextResolve(specifier, context);
    const mark = markOf(context.parentURL ?? '');
    if (mark === null || !resolved.url.startsWith('file:') || resolved.url.includes('/node_modules/'))
      return resolved;
    return { ...resolved, url: `${resolved.url}?${MARK}=${mark}` };
  },
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    const mutant = mutants[Number(markOf(url) ?? Number.NaN)];
    if (mutant === undefined || !url.startsWith(pathToFileURL(path.join(root, mutant.file)).href))
      return loaded;
    return { ...loaded, source: mutated(mutant) };
  },
});

type Rows = typeof import('../support/fixtures/chain-submitter/policy-rows.ts') &
  typeof import('../support/fixtures/chain-submitter/payment-shapes.ts');

const load = async (mark: number): Promise<Rows> => {
  const [rows, shapes] = await Promise.all(
    ['policy-rows', 'payment-shapes'].map(
      (name) =>
        import(
          `${pathToFileURL(path.join(root, `test/support/fixtures/chain-submitter/${name}.ts`)).href}?${MARK}=${mark}`
        ),
    ),
  );
  return { ...rows, ...shapes };
};

/** The rows that are answered otherwise than they should be. */
const wrongRows = async (mark: number): Promise<string[]> => {
  const { ACCEPTED, REFUSED, SHAPES, answerTo, evaluate } = await load(mark);
  const answers = [
    ...[...ACCEPTED, ...REFUSED].map(([name, bytes, order, answer, programs]) => ({
      ...{ name, answer, ask: () => evaluate(bytes(), order, programs) },
    })),
    ...SHAPES.map((shape) => ({ name: shape.shape, answer: shape.answer, ask: () => answerTo(shape) })),
  ];
  const answered = (ask: () => string): string => {
    try {
      return ask();
    } catch (error) {
      return String(error);
    }
  };
  return answers.filter(({ ask, answer }) => answered(ask) !== answer).map(({ name }) => name);
};

const titleOf = ({ file, line, from, to }: Mutant): string =>
  `${path.basename(file)}:${line}  ${from.replace(/\s+/g, ' ').trim()}  ->  ${to.trim() || 'nothing'}`;

const unchanged = await wrongRows(-1);
if (unchanged.length > 0) throw new Error(`without a change, rows are wrong: ${unchanged.join(', ')}`);
const survivors: Mutant[] = [];
for (const [index, mutant] of mutants.entries()) {
  const wrong = await wrongRows(index).catch((error: unknown) => [String(error)]);
  if (wrong.length === 0) survivors.push(mutant);
}
for (const survivor of survivors) console.log(`not found: ${titleOf(survivor)}`);
console.log(
  `${mutants.length} mutants, ${mutants.length - survivors.length} found, ${survivors.length} not found`,
);

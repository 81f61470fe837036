import type { Json } from './examples.ts';

/** The parameters of the API document. One that several operations have is written once. */

type Operation = Json & { parameters?: Json[] };

/** The name of a component for a parameter: `SettlementId` for `settlement_id`. */
const pascal = (name: string): string =>
  name.replace(/(?:^|[_-])(\w)/g, (_match, letter: string) => letter.toUpperCase());

/**
 * The parameters that more than one operation has, by the name of their component. A name that
 * several of them would have belongs to the one with the most uses.
 */
const repeatedIn = (operations: readonly Operation[]): Map<string, Json> => {
  const uses = Map.groupBy(
    operations.flatMap(({ parameters = [] }) => parameters),
    (parameter) => JSON.stringify(parameter),
  );
  const named = new Map<string, Json>();
  for (const same of [...uses.values()].sort((a, b) => b.length - a.length)) {
    const [parameter] = same;
    const name = pascal(String(parameter!.name));
    if (same.length > 1 && !named.has(name)) named.set(name, parameter!);
  }
  return named;
};

/** Replaces repeated parameters by references, in place. @returns the `components.parameters` */
export const shareParameters = (operations: readonly Operation[]): Record<string, Json> => {
  const named = repeatedIn(operations);
  const references = new Map(
    [...named].map(([name, parameter]) => [
      JSON.stringify(parameter),
      { $ref: `#/components/parameters/${name}` },
    ]),
  );
  for (const operation of operations) {
    if (operation.parameters === undefined) continue;
    operation.parameters = operation.parameters.map((each) => references.get(JSON.stringify(each)) ?? each);
  }
  return Object.fromEntries(named);
};

import type { StateMachine } from '../../../shared/state-machine.ts';

/**
 * Turns a whole table into the pairs of `test.each`: state, event, the result of `next` and the
 * expected one.
 * @param table a line of each state, in the order of `events`; `-` where the event changes nothing
 * @throws Error for a table that leaves out an event or a state of the machine
 */
export const eachPair = <S extends string, E extends string>(
  { states, events: known, next }: StateMachine<S, E>,
  events: readonly NoInfer<E>[],
  table: { readonly [state in S]: readonly (S | '-')[] },
): [state: S, event: E, next: S | '-', expected: S | '-'][] => {
  const missing = known.filter((event) => !events.includes(event));
  if (missing.length > 0) throw new Error(`events without a column in the table: ${missing}`);
  return states.flatMap((state) => {
    const line = table[state];
    if (line.length !== events.length)
      throw new Error(`${state} has ${line.length} of ${events.length} pairs`);
    return events.map((event, index): [S, E, S | '-', S | '-'] => [
      state,
      event,
      next(state, event) ?? '-',
      line[index]!,
    ]);
  });
};

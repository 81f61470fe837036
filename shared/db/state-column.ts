import type { StateMachine } from '../state-machine.ts';
import { sql } from './pool.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * A state machine over the column that holds its state, as conditions and values of statements.
 * States are literals in the text, never parameters: a partial index over them serves a generic
 * plan too, and the text is always the same.
 * @param column as the statement names it
 * @param stored how a state is stored, where that is not its name
 */
export const stateColumn = <S extends string, E extends string>(
  machine: StateMachine<S, E>,
  column: Fragment = sql.fragment`status`,
  stored: (state: S) => string = (state) => state,
) => {
  const literal = (state: S) => sql.literalValue(stored(state));
  const list = (states: readonly S[]) => sql.join(states.map(literal), sql.fragment`, `);
  const is = (states: readonly S[]): Fragment =>
    states.length === 1
      ? sql.fragment`${column} = ${literal(states[0]!)}`
      : sql.fragment`${column} in (${list(states)})`;
  const isNot = (states: readonly S[]): Fragment =>
    states.length === 1
      ? sql.fragment`${column} <> ${literal(states[0]!)}`
      : sql.fragment`${column} not in (${list(states)})`;

  const after = (event: E): Fragment => {
    const targets = new Set(machine.from(event).map((from) => machine.next(from, event)!));
    if (targets.size === 1) return sql.fragment`${literal(machine.to(event))}`;
    const changes = machine
      .from(event)
      .filter((from) => machine.next(from, event) !== from)
      .map((from) => sql.fragment`when ${literal(from)} then ${literal(machine.next(from, event)!)}`);
    if (changes.length === 0) return column;
    return sql.fragment`case ${column} ${sql.join(changes, sql.fragment` `)} else ${column} end`;
  };
  // Made once: statements that are sent thousands of times a second are put together of them.
  const made = new Map(
    machine.events.map((event) => {
      const isFrom = is(machine.from(event));
      return [event, { isFrom, allows: sql.fragment`coalesce(${isFrom}, false)`, after: after(event) }];
    }),
  );
  const of = (event: E) => {
    const found = made.get(event);
    if (found === undefined) throw new TypeError(`${event} belongs to no state`);
    return found;
  };

  return {
    /** The state is one of these, of which there is one at least. */
    is: (...states: readonly S[]) => is(states),
    /** The state is none of these. */
    isNot: (...states: readonly S[]) => isNot(states),
    /** The state is open. A partial index over the open states serves it. */
    isOpen: is(machine.open),
    /** The event belongs to the state; for statements that find their rows by the state. */
    isFrom: (event: E) => of(event).isFrom,
    /**
     * The same as the guard of rows that are found by their key: within coalesce no index serves
     * it, so a plan that was made over few rows does not go on reading all open ones
     * (docs/adr/0028).
     */
    allows: (event: E) => of(event).allows,
    /**
     * The guard of rows that each meet an event of their own, which the expression names; false
     * where it is null.
     */
    allowsBy: (event: Fragment) => {
      const cases = machine.events.map(
        (name) => sql.fragment`when ${sql.literalValue(name)} then ${is(machine.from(name))}`,
      );
      return sql.fragment`coalesce(case ${event} ${sql.join(cases, sql.fragment` `)} end, false)`;
    },
    /** What the event makes of the state. */
    after: (event: E) => of(event).after,
  };
};

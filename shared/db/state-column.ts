import type { StateMachine } from '../state-machine.ts';
import { sql } from './pool.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * A state machine over the column with its state, as conditions and values of statements. States
 * are literals in the text and never parameters, so that a generic plan can use a partial index,
 * and the text is always the same.
 * @param column the column as the statement names it
 * @param stored the stored value of a state, if it is not its name
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
      .map((from) => sql.fragment`when ${is([from])} then ${literal(machine.next(from, event)!)}`);
    if (changes.length === 0) return column;
    return sql.fragment`case ${sql.join(changes, sql.fragment` `)} else ${column} end`;
  };
  // Created once, because they are parts of statements that run thousands of times a second.
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
    /** The state is one of these (at least one). */
    is: (...states: readonly S[]) => is(states),
    /** The state is none of these. */
    isNot: (...states: readonly S[]) => isNot(states),
    /** The state is open. A partial index over the open states can serve it. */
    isOpen: is(machine.open),
    /** The event applies to the state. For statements that find their rows by the state. */
    isFrom: (event: E) => of(event).isFrom,
    /**
     * The same condition for rows that are found by their key. No index serves a coalesce, so a
     * plan that was made for few rows does not scan all open ones.
     */
    allows: (event: E) => of(event).allows,
    /**
     * The condition for rows that each have their own event, which the expression names. False if
     * it is null.
     */
    allowsBy: (event: Fragment) => {
      const cases = machine.events.map(
        (name) => sql.fragment`when ${sql.literalValue(name)} then ${is(machine.from(name))}`,
      );
      return sql.fragment`coalesce(case ${event} ${sql.join(cases, sql.fragment` `)} end, false)`;
    },
    /** The state after the event. */
    after: (event: E) => of(event).after,
  };
};

/**
 * State machines. Each is written as one table, and everything else is made from it: what code
 * asks, and the guards of the conditional updates (shared/db/state-column.ts). So code and
 * statements cannot disagree.
 */

/**
 * For each state what each event makes of it. An event that is not named there changes nothing in
 * that state.
 */
export type Transitions<S extends string, E extends string> = {
  readonly [state in S]: { readonly [event in E]?: S };
};

export type StateMachine<S extends string, E extends string> = {
  /** All states, in the order of the table. */
  readonly states: readonly S[];
  /** All events that belong to some state. */
  readonly events: readonly E[];
  /** The open states: those that some event still changes. The others are terminal. */
  readonly open: readonly S[];
  /** The state that an event leads to, null when it does not belong to the state it meets. */
  readonly next: (state: S, event: E) => S | null;
  /** The states that an event belongs to, in the order of the table. */
  readonly from: (event: E) => readonly S[];
  /**
   * The one state that an event leads to, whichever it meets.
   * @throws TypeError for an event that leads to several states, or belongs to none
   */
  readonly to: (event: E) => S;
  /** Whether no event changes a state any more. */
  readonly isTerminal: (state: S) => boolean;
};

const keysOf = <K extends string>(record: { readonly [key in K]?: unknown }) => Object.keys(record) as K[];

/**
 * The machine of a table. Its types are given by name, so that a table with a wrong state or event
 * does not compile.
 */
export const stateMachine = <S extends string, E extends string>(
  table: Transitions<S, E>,
): StateMachine<S, E> => {
  const states = keysOf(table);
  const events = [...new Set(states.flatMap((state) => keysOf<E>(table[state])))];
  const next = (state: S, event: E): S | null => table[state][event] ?? null;
  const from = (event: E) => states.filter((state) => next(state, event) !== null);
  const isTerminal = (state: S) => events.every((event) => (next(state, event) ?? state) === state);
  return {
    states,
    events,
    open: states.filter((state) => !isTerminal(state)),
    next,
    from,
    to: (event) => {
      const [to, ...others] = new Set(from(event).map((state) => next(state, event)!));
      if (to === undefined || others.length > 0)
        throw new TypeError(`${event} leads to ${others.length > 0 ? 'several states' : 'no state'}`);
      return to;
    },
    isTerminal,
  };
};

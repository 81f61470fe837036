/**
 * State machines. Each is one table. The functions below and the guards of the conditional updates
 * (shared/db/state-column.ts) are derived from it, so code and statements always agree.
 */

/**
 * The next state for each state and event. An event that a state does not list does not change it.
 */
export type Transitions<S extends string, E extends string> = {
  readonly [state in S]: { readonly [event in E]?: S };
};

export type StateMachine<S extends string, E extends string> = {
  /** All states, in the order of the table. */
  readonly states: readonly S[];
  /** All events of the table. */
  readonly events: readonly E[];
  /** The open states, which at least one event changes. The others are terminal. */
  readonly open: readonly S[];
  /** The state that an event leads to. Null if the event does not apply to the state. */
  readonly next: (state: S, event: E) => S | null;
  /** The states that an event applies to, in the order of the table. */
  readonly from: (event: E) => readonly S[];
  /**
   * The one state that an event leads to from every state that it applies to.
   * @throws TypeError for an event that leads to several states, or applies to none
   */
  readonly to: (event: E) => S;
  /** Whether no event changes the state. */
  readonly isTerminal: (state: S) => boolean;
};

const keysOf = <K extends string>(record: { readonly [key in K]?: unknown }) => Object.keys(record) as K[];

/**
 * The machine of a table. The caller names its types, so a table with a wrong state or event does
 * not compile.
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

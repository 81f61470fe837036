import { expect, test } from '@jest/globals';
import { stateMachine } from './state-machine.ts';

type State = 'shut' | 'ajar' | 'wide' | 'bricked';
type Event = 'push' | 'pull' | 'knock' | 'brick' | 'ring';
const door = stateMachine<State, Event>({
  shut: { push: 'ajar', knock: 'shut', brick: 'bricked' },
  ajar: { push: 'wide', pull: 'shut' },
  wide: { pull: 'shut' },
  bricked: { knock: 'bricked' },
});

test.each<[State, Event, State | null]>([
  ['shut', 'push', 'ajar'],
  ['shut', 'knock', 'shut'],
  ['shut', 'pull', null],
  ['ajar', 'push', 'wide'],
  ['wide', 'push', null],
  ['bricked', 'knock', 'bricked'],
  ['bricked', 'push', null],
  ['shut', 'ring', null],
])('transition from %s on %s: %s', (state, event, expected) => {
  expect(door.next(state, event)).toBe(expected);
});

test.each<[Event, State[], State | null]>([
  ['push', ['shut', 'ajar'], null],
  ['pull', ['ajar', 'wide'], 'shut'],
  ['brick', ['shut'], 'bricked'],
  ['ring', [], null],
])('%s applies to %j and leads to %s', (event, from, to) => {
  expect(door.from(event)).toEqual(from);
  if (to === null) expect(() => door.to(event)).toThrow(TypeError);
  else expect(door.to(event)).toBe(to);
});

test('states and events have the order of the table, and a state that no event changes is terminal', () => {
  expect(door.states).toEqual(['shut', 'ajar', 'wide', 'bricked']);
  expect(door.events).toEqual(['push', 'knock', 'brick', 'pull']);
  expect(door.open).toEqual(['shut', 'ajar', 'wide']);
  expect(door.states.filter(door.isTerminal)).toEqual(['bricked']);
});

test('a wrong name does not compile', () => {
  // @ts-expect-error a state that the table lacks
  stateMachine<'a' | 'b', 'go'>({ a: { go: 'b' } });
  // @ts-expect-error an unknown event
  stateMachine<'a', 'go'>({ a: { gone: 'a' } });
  // @ts-expect-error an unknown state
  stateMachine<'a', 'go'>({ a: { go: 'b' } });
  // @ts-expect-error an unknown event
  expect(door.from('kick')).toEqual([]);
});

import { expect, test } from '@jest/globals';
import { stateMachine } from '../state-machine.ts';
import { sql } from './pool.ts';
import { stateColumn } from './state-column.ts';

type State = 'shut' | 'ajar' | 'wide' | 'bricked';
type Event = 'push' | 'pull' | 'brick' | 'knock' | 'ring';
const door = stateMachine<State, Event>({
  shut: { push: 'ajar', brick: 'bricked', knock: 'shut' },
  ajar: { push: 'wide', pull: 'shut' },
  wide: { push: 'wide', pull: 'shut', knock: 'wide' },
  bricked: {},
});
const state = stateColumn(door);
const other = stateColumn(door, sql.fragment`d.state`, (name) => String(door.states.indexOf(name) + 1));

test.each([
  ['one state', state.is('shut'), "status = 'shut'"],
  ['several', state.is('shut', 'wide'), "status in ('shut', 'wide')"],
  ['not one', state.isNot('bricked'), "status <> 'bricked'"],
  ['none of several', state.isNot('shut', 'ajar'), "status not in ('shut', 'ajar')"],
  ['open', state.isOpen, "status in ('shut', 'ajar', 'wide')"],
  ['found by the state', state.isFrom('pull'), "status in ('ajar', 'wide')"],
  ['found by the state, a single one', state.isFrom('brick'), "status = 'shut'"],
  ['guard', state.allows('pull'), "coalesce(status in ('ajar', 'wide'), false)"],
  ['one target', state.after('pull'), "'shut'"],
  [
    'several targets',
    state.after('push'),
    "case when status = 'shut' then 'ajar' when status = 'ajar' then 'wide' else status end",
  ],
  ['targets that are the state itself', state.after('knock'), 'status'],
  ['another column, other codes', other.isOpen, "d.state in ('1', '2', '3')"],
  [
    'an event of each row',
    other.allowsBy(sql.fragment`e.event`),
    "coalesce(case e.event when 'push' then d.state in ('1', '2', '3') when 'brick' then d.state = '1' " +
      "when 'knock' then d.state in ('1', '3') when 'pull' then d.state in ('2', '3') end, false)",
  ],
])('the SQL of: %s', (_name, fragment, expected) => {
  expect(fragment.sql).toBe(expected);
  expect(fragment.values).toEqual([]);
});

test('an event of no state has no guard and throws', () => {
  expect(() => state.allows('ring')).toThrow(TypeError);
});

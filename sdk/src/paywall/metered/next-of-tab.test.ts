import { expect, test } from '@jest/globals';
import { unavailable, usedUp } from '../base/answers.ts';
import { nextOfTab, type TabState } from './next-of-tab.ts';

/** A call of up to 5 micro-units, at a tab of which too little is left. */
const EMPTY: TabState = { refusal: null, count: 'empty', left: 4n, hasOthers: false };
const TERMS = { perCall: 5n, fixed: null, extend: false };

test.each([
  ['an authorization that is closed ends its tab', { refusal: usedUp('authorization_closed') }, {}, 'end'],
  ['one that cannot be read now is refused', { refusal: unavailable('no_answer') }, {}, 'refuse'],
  ['a refusal comes before what is left', { refusal: unavailable('store'), left: null }, {}, 'refuse'],
  ['a price that was taken is delivered for', { count: 'taken' }, {}, 'deliver'],
  ['the record of another request is not taken', { count: 'held' }, {}, 'busy'],
  ['a store without a number gets one', { left: null }, {}, 'fill'],
  ['a closed tab is read again', { left: -1n }, {}, 'retire'],
  ['a tab that has grown meanwhile is asked again', { left: 5n }, {}, 'again'],
  ['exactly the price is enough', { left: 5n, hasOthers: true }, { extend: true }, 'again'],
  ['others may release what they do not use', { hasOthers: true }, {}, 'wait'],
  ['others come before an extension', { hasOthers: true }, { extend: true }, 'wait'],
  ['others at a fixed price release nothing', { hasOthers: true }, { fixed: 5n }, 'use up'],
  ['a buyer may extend it', {}, { extend: true }, 'extend'],
  ['a buyer may extend one at a fixed price', { hasOthers: true }, { fixed: 5n, extend: true }, 'extend'],
  ['otherwise it is used up', {}, {}, 'use up'],
  ['also when nothing is left', { left: 0n }, {}, 'use up'],
] satisfies [string, Partial<TabState>, Partial<Parameters<typeof nextOfTab>[1]>, string][])(
  '%s',
  (_title, state, terms, next) => {
    expect(nextOfTab({ ...EMPTY, ...state }, { ...TERMS, ...terms })).toBe(next);
  },
);

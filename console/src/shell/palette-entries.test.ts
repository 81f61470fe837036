import { expect, test } from '@jest/globals';
import { groupsOf } from './palette-entries.ts';

const load = async () => ({ default: () => null });
const AREAS = [
  {
    heading: 'Sell',
    pages: [
      { path: '/webhooks', nav: 'Webhooks', load },
      { path: '/webhooks/:id', load },
    ],
  },
];
const found = (typed: string) =>
  groupsOf(typed, AREAS).map(({ heading, entries }) => [heading, ...entries.map(({ to }) => to)]);

test('pages with a name in the navigation, and guides', () => {
  expect(found('webh')).toEqual([
    ['Pages', '/webhooks'],
    ['Guides', '/docs/guides/webhooks'],
  ]);
  expect(found('no such thing')).toEqual([]);
});

const ID = '01m82xws9yfqbbx539kk3pttty';
const HASH = '5Hnm4jgcCw4wH11ZWvSDeQNDeUy1HhrL62RASAYSC2a4CEEUXE6X5d3sVKUH9HYf23NMWSmx6pz4AQaokRUxVNg9';
test.each([
  [`stl_${ID}`, [`/payments/stl_${ID}`, `/sales/stl_${ID}`]],
  [` q_${ID} `, [`/sales?time=month&find=q_${ID}`]],
  [`apr_${ID}`, [`/approvals/apr_${ID}`]],
  [`del_${ID}`, [`/activity?delegate=del_${ID}`]],
  ['9f6c0f0a-2d0f-4a43-9a53-0d0c1b2a48e1', ['/services/9f6c0f0a-2d0f-4a43-9a53-0d0c1b2a48e1']],
  [HASH, [`/activity?find=${HASH}`, `/sales?time=month&find=${HASH}`]],
  // A part of an id names nothing.
  [`stl_${ID.slice(1)}`, []],
])('%s', (typed, to) => expect(found(typed)).toEqual(to.length === 0 ? [] : [['Found', ...to]]));

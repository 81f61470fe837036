import { expect, test } from '@jest/globals';
import { shortId } from './short-id.ts';

test.each([
  ['8N7Z4cxDD9sqHh2pZ6vYbKc3mQ1nWtRrT5uXyZaAWgzV', '8N7Z…WgzV'],
  ['stl_01m82xws9yfqbbx539kk3pttty', 'stl_01m8…ttty'],
  ['9f6c0f0a-2d0f-4a43-9a53-0d0c1b2a48e1', '9f6c…48e1'],
  ['req-7f3a', 'req-7f3a'],
  ['twelve_chars', 'twelve_chars'],
])('%s', (id, short) => expect(shortId(id)).toBe(short));

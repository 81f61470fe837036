import { expect, test } from '@jest/globals';
import { createKeyText, KEY_PREFIXES } from '../../shared/lib/tokens/key-text.ts';
import { isWholeKey } from './key-checksum.ts';

test.each(KEY_PREFIXES)(
  'a new key %s… is whole, and not with another, missing or added character',
  (prefix) => {
    for (let made = 0; made < 200; made += 1) {
      const key = createKeyText(prefix);
      expect([key, isWholeKey(key)]).toEqual([key, true]);
      const at = prefix.length + (made % 49);
      const other = key[at] === 'a' ? 'b' : 'a';
      for (const wrong of [key.slice(0, at) + other + key.slice(at + 1), key.slice(0, -1), `${key}a`])
        expect([wrong, isWholeKey(wrong)]).toEqual([wrong, false]);
    }
  },
);

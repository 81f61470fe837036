import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { smallerPng } from './pictures/smaller-png.ts';

test('a smaller picture has the same pixels, and a picture that is small already stays', () => {
  const picture = readFileSync(path.resolve(import.meta.dirname, '../docs/pictures/terminal.png'));
  expect(smallerPng(picture)).toEqual(picture);
  // The only chunk of pixels, stored without compression by a reader of the format.
  const at = picture.indexOf('IDAT', 0, 'latin1');
  const pixels = inflateSync(picture.subarray(at + 4, at + 4 + picture.readUInt32BE(at - 4)));
  expect(pixels.length).toBeGreaterThan(picture.length);
});

import { expect, test } from '@jest/globals';
import { parseBody } from './body.ts';

const parse = (text: string) => parseBody(Buffer.from(text));

test.each([
  ['at the top', '{"a":1,"b":2,"a":1}'],
  ['in a nested object', '{"a":{"b":1,"b":2}}'],
  ['in an object of a list', '{"a":[{"b":1},{"c":1,"c":1}]}'],
  ['spelled with an escape', '{"a":1,"\\u0061":2}'],
  ['spaces before the colon', '{"a" :1,"a"\t\r\n : 2}'],
  ['the empty name', '{"":1,"":2}'],
  ['a name with a quote', '{"\\"":1,"\\"":2}'],
  ['a name that ends in a backslash', '{"\\\\":1,"\\\\":2}'],
  ['a name like an index', '{"0":1,"0":2}'],
])('a repeated field name is refused: %s', (_name, text) => {
  expect(() => parse(text)).toThrow('the body has a field name twice');
});

test.each(['1e400', '-1e400', '{"b":[1e999]}'])(
  'a number that no number type holds is named: %s',
  (value) => {
    expect(() => parse(`{"scope":${value}}`)).toThrow('the body has a number that is too large');
  },
);

test.each([
  ['the same name at two levels', '{"a":{"a":{"a":1}}}'],
  ['the same name in two objects of a list', '{"a":[{"b":1},{"b":1}]}'],
  ['strings with colons', '{"a":"x:y","b":[":","\\":",":z"],"c:d":"\\\\"}'],
  ['text that looks like field names', '{"a":"{\\"b\\":1,\\"b\\":2}"}'],
  ['names of inherited members', '{"toString":1,"constructor":2,"hasOwnProperty":3}'],
  ['a byte order mark', '\ufeff{"a":1}'],
  ['empty', '{}'],
])('a body without repeated field names passes: %s', (_name, text) => {
  expect(parse(text)).toEqual(JSON.parse(text.replace('\ufeff', '')));
});

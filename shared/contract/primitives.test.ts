import { expect, test } from '@jest/globals';
import { label, MicroUsdc } from './primitives.ts';

test.each([
  ['one micro-unit', '1', true],
  ['2^63-1', '9223372036854775807', true],
  ['2^63', '9223372036854775808', false],
  ['20 digits', '10000000000000000000', false],
  ['zero', '0', false],
  ['negative', '-1', false],
  ['leading zero', '01', false],
  ['exponent', '1e3', false],
  ['hexadecimal', '0x10', false],
  ['a space', ' 1', false],
  ['empty', '', false],
  ['full-width digits', '１', false],
  ['a number', 1000, false],
  ['a list', ['1000'], false],
  ['a long text, for which BigInt would throw', 'a'.repeat(40), false],
  ['a long text that begins with digits', `${'1'.repeat(30)}n`, false],
])('an amount is checked: %s', (_name, value, accepted) => {
  expect(MicroUsdc.safeParse(value).success).toBe(accepted);
});

test.each([
  ['plain', 'Weather API'],
  ['Arabic, right to left by itself', 'خدمة الطقس'],
  ['Persian with ZWNJ', 'می\u200cخواهم'],
  ['Devanagari with ZWJ', 'क्\u200dष'],
  ['emoji joined by ZWJ', '👩\u200d💻 agent'],
  ['emoji with a variation selector', '✔\ufe0f'],
  [
    'the flags of England and Texas',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}🏴\u{e0075}\u{e0073}\u{e0074}\u{e0078}\u{e007f} API',
  ],
  ['a black flag', '🏴 API'],
  ['a name with an ideographic variant', '葛\u{e0100}城'],
  ['combining marks', 'Zoe\u0308'],
  ['a single sign', '#'],
])('a label is accepted: %s', (_name, text) => {
  expect(label(80).safeParse(text).success).toBe(true);
});

test.each([
  ['nothing', ''],
  ['spaces alone', '   '],
  ['joiners alone', '\u200d\u200c\u200d'],
  ['a line', 'a\nb'],
  ['a line separator', 'a\u2028b'],
  ['NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800b'],
  ['right-to-left override', 'refund \u202egnp.exe'],
  ['bidi embedding', '\u202aa\u202c'],
  ['bidi isolate', '\u2066a\u2069'],
  ['right-to-left mark', 'a\u200fb'],
  ['Arabic letter mark', 'a\u061cb'],
  ['zero width space', 'Weather\u200b API'],
  ['word joiner', 'Weather\u2060API'],
  ['byte order mark', '\ufeffWeather API'],
  ['soft hyphen', 'Wea\u00adther'],
  ['a flag without an end', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067} API'],
  ['a flag with a long text in tags', `🏴${'\u{e0061}'.repeat(7)}\u{e007f}`],
  ['a flag with an end alone', '🏴\u{e007f}'],
  ['a flag with two ends', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e007f}\u{e007f}'],
  ['tags that are no letters of a region', '🏴\u{e0067}\u{e0020}\u{e0065}\u{e007f}'],
  ['the tags of a flag after another emoji', '🙂\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
  ['a hidden sentence in tags', 'Weather\u{e0068}\u{e0069}'],
  ['interlinear annotation', 'a\ufff9b\ufffac\ufffb'],
  ['Hangul filler', '\u3164'],
  ['Hangul filler inside', 'Weather\uffa0API'],
])('a label is refused: %s', (_name, text) => {
  expect(label(80).safeParse(text).success).toBe(false);
});

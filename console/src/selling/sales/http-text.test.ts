import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { answerText, curlText, type Exchanged, requestText } from './http-text.ts';

const KEY = 'vendor_test_abcdef';
const secrets = new Map([[KEY, 'SERVICE_KEY']]);
const exchanged: Exchanged = {
  method: 'POST',
  url: 'http://localhost:3000/v1/quote',
  headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({ name: "the owner's; $HOME `id`", key: KEY }),
  answer: {
    status: 201,
    headers: { 'content-type': 'application/json', 'x-request-id': 'r1', vary: 'origin' },
    body: JSON.stringify({ echoed: KEY }),
  },
};

test('no secret is in the shown or copied text, wherever it occurred', () => {
  const texts = [
    requestText(exchanged, secrets),
    answerText(exchanged, secrets),
    curlText(exchanged, secrets),
  ];
  for (const text of texts) {
    expect(text).not.toContain(KEY);
    expect(text).toContain('$SERVICE_KEY');
  }
});

test('the answer has its status, the relevant headers, and its body in lines', () => {
  expect(answerText(exchanged, secrets)).toBe(
    '201\ncontent-type: application/json\nx-request-id: r1\n\n{\n  "echoed": "$SERVICE_KEY"\n}',
  );
  expect(answerText({ ...exchanged, answer: null }, secrets)).toBe('no answer came');
});

test('a shell passes exactly the sent values to curl and runs nothing in them', () => {
  const script = curlText(exchanged, secrets).replace(/^curl/, 'printf "%s\\n"');
  const said = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { SERVICE_KEY: KEY } });
  expect(said.split('\n')).toEqual([
    '-i',
    '-X',
    'POST',
    exchanged.url,
    '-H',
    `authorization: Bearer ${KEY}`,
    '-H',
    'content-type: application/json',
    '--data',
    exchanged.body,
    '',
  ]);
});

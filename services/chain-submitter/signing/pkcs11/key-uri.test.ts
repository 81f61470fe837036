import { expect, test } from '@jest/globals';
import { parseKeyUri } from './key-uri.ts';

const ADDRESS = 'So11111111111111111111111111111111111111112';

test('a URI names token, key, module, file of the PIN and address', () => {
  const uri = `pkcs11:token=my%20token;serial=0a;object=fee%3bpayer;id=%01%ff;type=private?module-path=/opt/a.so&pin-source=file:/run/pin&x-address=${ADDRESS}`;
  expect(parseKeyUri(uri)).toEqual({
    token: { token: 'my token', serial: '0a' },
    object: 'fee;payer',
    id: Buffer.of(1, 255),
    modulePath: '/opt/a.so',
    pinFile: '/run/pin',
    address: ADDRESS,
  });
  expect(parseKeyUri('pkcs11:token=a;object=%c3%a9')).toMatchObject({
    object: 'é',
    modulePath: null,
    pinFile: null,
  });
  expect(parseKeyUri('pkcs11:token=a;id=%07?pin-source=file:///run/pin')).toMatchObject({
    pinFile: '/run/pin',
  });
});

test.each([
  ['pkcs11:token=a', /name the key by "object" or "id"/],
  ['pkcs11:object=a', /name the token/],
  ['pkcs11:token=a;object=b;colour=red', /an attribute is unknown; allowed here are token/],
  ['pkcs11:token=a;token=b;object=c', /"token" is repeated/],
  ['pkcs11:token=a;object=%zz', /"object" is not percent-encoded/],
  ['pkcs11:token=a;object=é', /"object" is not percent-encoded/],
  ['pkcs11:token=a;object=b;type=secret-key', /"type" must be "private"/],
  ['pkcs11:token=a;object=b?pin-value=1234', /"pin-value" is not allowed/],
  ['pkcs11:token=a;object=b?pin-source=run/pin', /absolute path/],
  ['pkcs11:token=a;object=b?module-path=a.so', /absolute path/],
  ['pkcs11:token=a;object=b?x-address=1', /base58 address/],
  ['pkcs11:token=a;object=b?a?b', /one "\?"/],
])('%s is refused without a repetition of its values', (uri, expected) => {
  expect(() => parseKeyUri(uri)).toThrow(expected);
  expect(() => parseKeyUri(uri)).not.toThrow(/1234|red|zz/);
});

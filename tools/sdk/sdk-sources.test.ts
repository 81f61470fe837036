import { expect, test } from '@jest/globals';
import { quote } from '../../shared/contract/index.ts';
import { signature } from './sdk-sources.ts';

test('an editor strikes through a deprecated method and says what replaces it', () => {
  const { list } = quote.operations;
  const deprecated = { since: '2027-01-15', until: '2027-08-01', use: '`quote.get`' } as const;
  expect(signature('quote', 'list', { ...list, deprecated })).toContain(
    '\n     * @deprecated Deprecated since 2027-01-15, and may be gone from 2027-08-01: use `quote.get`.\n     */\n    list(',
  );
  expect(signature('quote', 'list', list)).not.toContain('@deprecated');
});

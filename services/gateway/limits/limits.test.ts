import { afterEach, expect, jest, test } from '@jest/globals';
import { createLogger } from '../../../shared/lib/telemetry/logger.ts';
import { connectRedis } from '../redis/connect.ts';
import { createLimits } from './limits.ts';
import { LimitsFile } from './limits-file.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test('a text that is too long for a mail address is not normalized, which takes quadratic time', async () => {
  const normalize = jest.spyOn(String.prototype, 'normalize');
  // No Redis listens there: this test is about the text before Redis is called.
  const redis = connectRedis('redis://127.0.0.1:1', createLogger('test', 'fatal'));
  const limits = createLimits({ redis, script: '', overrides: LimitsFile.parse(undefined) });
  const remaining = async (email: string) => {
    const [quota] = await limits.count({
      environment: 'test',
      name: 'identity.requestMagicLink',
      operation: {
        limits: [{ points: 5, windowSeconds: 900, per: { field: 'email' } }],
        withoutRedis: 'in-process',
      },
      accountId: undefined,
      accountFactor: 1,
      ip: '203.0.113.1',
      input: { email },
    });
    return quota!.remaining;
  };
  const long = `a${'\u0315\u0300'.repeat(15_000)}@example.com`;
  expect([await remaining(long), await remaining(long), await remaining('Ada@example.com')]).toEqual([
    4, 3, 4,
  ]);
  expect(await remaining('ada@EXAMPLE.com')).toBe(3);
  expect(normalize).toHaveBeenCalledTimes(2);
  redis.disconnect();
});

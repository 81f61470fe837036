import { afterEach, expect, jest, test } from '@jest/globals';
import { createLogger } from '../../shared/lib/logger.ts';
import { createLimits } from './limits.ts';
import { NO_OVERRIDES } from './limits-file.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test('a text that is no mail address by its length is counted as it is: bringing marks into order takes their square', async () => {
  const spelled = jest.spyOn(String.prototype, 'normalize');
  const logger = createLogger('test', 'fatal');
  // Nobody is there: what is asked is what becomes of the text before Redis is.
  const limits = createLimits({ redisUrl: 'redis://127.0.0.1:1', overrides: NO_OVERRIDES, logger });
  const taken = async (email: string) => {
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
  expect([await taken(long), await taken(long), await taken('Ada@example.com')]).toEqual([4, 3, 4]);
  expect(await taken('ada@EXAMPLE.com')).toBe(3);
  expect(spelled).toHaveBeenCalledTimes(2);
  limits.stop();
});

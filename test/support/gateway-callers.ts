import { signAccessToken } from '../../shared/lib/access-token.ts';
import { newId } from '../../shared/lib/id.ts';
import { createKeyText } from '../../shared/lib/key-text.ts';
import { type GatewayFixture, newDelegateKey, newServiceKey, type newSigningKey } from './gateway.ts';

type Reply = {
  status: number;
  headers: Headers;
  body: Record<string, never> & { error?: Record<string, unknown> };
};

/**
 * Callers of a gateway fixture with every kind of credential.
 * @param session the key that signs access tokens
 */
export const gatewayCallers = (fixture: () => GatewayFixture, session: ReturnType<typeof newSigningKey>) => ({
  send: async (
    method: string,
    path: string,
    { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Reply> => {
    const response = await fetch(fixture().gateway.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  },
  serviceKey: (env: 'test' | 'live' = 'test', principal = newServiceKey()) =>
    fixture().services.addKey(createKeyText(`vendor_${env}_`), principal),
  delegateKey: () => fixture().services.addKey(createKeyText('dk_test_'), newDelegateKey()),
  accessToken: (changes: Partial<Parameters<typeof signAccessToken>[0]> = {}, key = session.signing) =>
    signAccessToken(
      {
        accountId: newId('acct'),
        sessionId: newId('ses'),
        environment: 'test',
        amr: ['email'],
        authTime: Math.floor(Date.now() / 1000),
        now: Date.now(),
        ...changes,
      },
      key,
    ),
});

import { PAYMENT_HEADERS, REQUEST_ID_HEADER } from '../../sdk/src/pay/base/dialects.ts';
import type { ToolCall } from '../../sdk/src/pay/tools.ts';
import type { Fetch } from '../../sdk/src/transport.ts';

const OF_PAYMENTS = PAYMENT_HEADERS.filter((name) => name !== REQUEST_ID_HEADER);

/** Notes whether one call of a tool has asked for a payment or presented one. */
export const watchPayments = (baseUrl: string, fetch: Fetch) => {
  const asking = ['/v1/settle', '/v1/payments'].map((path) => `${baseUrl}${path}`);
  let isPaying = false;
  const watched: Fetch = (url, init) => {
    const headers = new Headers(init.headers);
    const isPresented = OF_PAYMENTS.some((name) => (headers.get(name) ?? '') !== '');
    const isMpp = /^\s*payment\s/i.test(headers.get('authorization') ?? '');
    isPaying ||= isPresented || isMpp || asking.includes(url);
    return fetch(url, init);
  };
  return {
    fetch: watched,
    /** The same for tools of other servers, whose calls have a payment in `_meta`. */
    calling:
      <Result>(callTool: (call: ToolCall) => Promise<Result>) =>
      (call: ToolCall): Promise<Result> => {
        isPaying ||= Object.keys(call._meta ?? {}).length > 0;
        return callTool(call);
      },
    isPaying: (): boolean => isPaying,
  };
};
export type Watching = ReturnType<typeof watchPayments>;

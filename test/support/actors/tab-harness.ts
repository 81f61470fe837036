import { createConsumer, createVendor } from '../../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../../deploy/local/seed/api.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { waitFor } from '../base/wait.ts';
import { answer, startReceiver } from '../servers/receiver.ts';
import { type Tab, tabCalls } from './tab-calls.ts';

/** Status, code and message of a refusal. */
export const refusal = ({
  status,
  body,
}: {
  status: number;
  body: { error?: { code: string; message: string } };
}) => [status, body.error?.code, body.error?.message ?? ''];

type Event = { type: string; data: { settlement_id: string; role: string } };
type Named = Pick<Tab, 'settlement_id'>;
export type TabHarness = Awaited<ReturnType<typeof createTabHarness>>;

/** A vendor with a webhook receiver, and a buyer, at a running stack. */
export const createTabHarness = async (stack: Pick<Stack, 'gateway_url' | 'mail_url'>) => {
  const api = createApi(stack.gateway_url);
  const [vendor, buyer, receiver] = await Promise.all([
    createVendor(api, stack),
    createConsumer(api, stack),
    startReceiver(answer(200)),
  ]);
  const body = { url: receiver.url, event_types: ['settlement.*'] };
  await must(api('POST /v1/webhook-endpoints', { token: vendor.signIn.access_token, body }), 'endpoint');
  const calls = tabCalls(api, vendor);
  return {
    ...{ api, vendor, buyer, calls },
    open: async (terms: object = {}, token = buyer.token) =>
      must(calls.authorize(token, await calls.quote(terms)), 'authorize'),
    untilStatus: (tab: Named, status: string) =>
      waitFor(
        () => calls.verify(tab),
        (now) => now.status === status,
      ),
    /** The events of a settlement that the receiver got, by type, once it has these. */
    eventsOf: async ({ settlement_id }: Named, ...types: string[]) => {
      const read = () =>
        receiver.received
          .map(({ body: text }) => JSON.parse(text.toString()) as Event)
          .filter(({ data }) => data.settlement_id === settlement_id);
      const all = await waitFor(read, (got) => types.every((type) => got.some((one) => one.type === type)));
      return new Map(all.map(({ type, data }) => [type, data]));
    },
    stop: () => receiver.stop(),
  };
};

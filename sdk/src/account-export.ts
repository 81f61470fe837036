import type { Client } from './client.ts';

/** The data of an account, as the operations of its owner show them. */

/** The largest page. */
const PAGE = { limit: '100' } as const;

type Source = (client: Client) => AsyncIterable<object>;

/** Every list of an owner, by its operation. A test compares them with the contract. */
export const LISTS: Readonly<Record<string, readonly Source[]>> = {
  'identity.listPasskeys': [(client) => client.identity.listPasskeys(PAGE)],
  'identity.listSessions': [(client) => client.identity.listSessions(PAGE)],
  'identity.listServices': [(client) => client.identity.listServices(PAGE)],
  'identity.listDelegates': [(client) => client.identity.listDelegates(PAGE)],
  'wallet.list': [(client) => client.wallet.list(PAGE)],
  'wallet.listTransactions': [(client) => client.wallet.listTransactions(PAGE)],
  'quote.list': [(client) => client.quote.list(PAGE)],
  'quote.listPaymentLinks': [(client) => client.quote.listPaymentLinks(PAGE)],
  'settlement.list': [
    (client) => client.settlement.list(PAGE),
    (client) => client.settlement.list({ ...PAGE, role: 'vendor' }),
  ],
  'identity.listKeys': [(client) => client.identity.listKeys(PAGE)],
  'identity.listSecurityEvents': [(client) => client.identity.listSecurityEvents(PAGE)],
  'settlement.listApprovals': [(client) => client.settlement.listApprovals(PAGE)],
  'settlement.listDeclines': [
    (client) => client.settlement.listDeclines(PAGE),
    (client) => client.settlement.listDeclines({ ...PAGE, role: 'vendor' }),
  ],
  'funding.listDeposits': [(client) => client.funding.listDeposits(PAGE)],
  'funding.listWithdrawals': [(client) => client.funding.listWithdrawals(PAGE)],
  'funding.listRefunds': [(client) => client.funding.listRefunds(PAGE)],
  'webhook.listEndpoints': [(client) => client.webhook.listEndpoints(PAGE)],
  'webhook.listDeliveries': [
    async function* (client) {
      for await (const { endpoint_id } of client.webhook.listEndpoints(PAGE))
        for await (const delivery of client.webhook.listDeliveries({ ...PAGE, endpoint_id }))
          yield { endpoint_id, ...delivery };
    },
  ],
  'gateway.requests': [(client) => client.gateway.requests(PAGE)],
  'webhook.listEvents': [(client) => client.webhook.listEvents(PAGE)],
};

/** What is one object and no list. */
const OBJECTS: Readonly<Record<string, (client: Client) => Promise<object>>> = {
  'identity.getAccount': (client) => client.identity.getAccount(),
  'identity.getSettings': (client) => client.identity.getSettings(),
  'settlement.getFees': (client) => client.settlement.getFees(),
};

/** An object of an account, and the operation that it comes from. */
export type Exported = { from: string; data: object };

/**
 * All data of an account, object by object, each with the operation that it comes from. It is never
 * in memory as a whole. The owner hears of the export.
 */
export async function* exportAccount(client: Client): AsyncGenerator<Exported> {
  await client.identity.noteExport({ of: 'account' });
  for (const [from, read] of Object.entries(OBJECTS)) yield { from, data: await read(client) };
  for (const [from, sources] of Object.entries(LISTS))
    for (const source of sources) for await (const data of source(client)) yield { from, data };
}

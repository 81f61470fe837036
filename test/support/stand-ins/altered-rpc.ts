import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Call = { id: unknown; method: string };
type Answer = { id: unknown; result?: unknown };
/** Changes the result of a call. */
type Alteration = (method: string, result: unknown) => unknown;

/** A provider in front of a chain that changes what the chain answers. */
export const startAlteredRpc = async (chainUrl: string) => {
  let alter: Alteration = (_method, result) => result;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const sent = await fetch(chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const [calls, answers] = [JSON.parse(body), await sent.json()].map((one) =>
      Array.isArray(one) ? one : [one],
    ) as [Call[], Answer[]];
    const methods = new Map(calls.map(({ id, method }) => [id, method]));
    const altered = answers.map((answer) =>
      'result' in answer ? { ...answer, result: alter(methods.get(answer.id)!, answer.result) } : answer,
    );
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body.startsWith('[') ? altered : altered[0]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    alterBy: (alteration: Alteration): void => {
      alter = alteration;
    },
    stop: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
};
export type AlteredRpc = Awaited<ReturnType<typeof startAlteredRpc>>;

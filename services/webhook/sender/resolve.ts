import { Resolver, lookup as systemLookup } from 'node:dns/promises';

export type Address = { address: string; family: number };
/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

/** Resolves as this machine does, including its hosts file. */
export const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true });

/**
 * Resolves by queries to the name servers only, without hosts file and search domains. It occupies
 * no thread: the system's resolver has few threads, and one slow name server of a stranger could
 * block them for all deliveries.
 */
export const resolveByNameServers = (): Resolve => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return answers.flatMap((answer, index) =>
      answer.status === 'rejected'
        ? []
        : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
    );
  };
};

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useMemo, useSyncExternalStore } from 'react';
import { type SessionState, session } from './store.ts';

/** The current sign-in. The component renders again when it changes. */
export const useSession = (): SessionState => useSyncExternalStore(session.subscribe, session.get);

/** Cached data belongs to one account of one environment, and is dropped with it. */
export const DataOfAccount = ({ children }: { children: ReactNode }) => {
  const { environment, account } = useSession();
  const owner = `${environment}:${account?.account_id ?? ''}`;
  // The SDK already retries. A second layer would only delay the error.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new owner needs a new store
  const client = useMemo(
    () =>
      new QueryClient({
        defaultOptions: { queries: { retry: false, staleTime: 5000 }, mutations: { retry: false } },
      }),
    [owner],
  );
  return (
    <QueryClientProvider key={owner} client={client}>
      {children}
    </QueryClientProvider>
  );
};

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useMemo, useSyncExternalStore } from 'react';
import { type SessionState, session } from './store.ts';

/** The sign-in as it stands; the component is shown anew when it changes. */
export const useSession = (): SessionState => useSyncExternalStore(session.subscribe, session.get);

/** What was read belongs to one account of one environment, and is forgotten with it. */
export const DataOfAccount = ({ children }: { children: ReactNode }) => {
  const { environment, account } = useSession();
  const owner = `${environment}:${account?.account_id ?? ''}`;
  // The SDK repeats what may be repeated: a second layer of that would only delay the message.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new owner is the reason for a new store
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

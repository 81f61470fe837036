import {
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { CallOptions, Client } from '../../../sdk/src/main.ts';
import { withFreshSignIn } from '../session/step-up.tsx';
import { session } from '../session/store.ts';

/**
 * How pages read and change things: by these three hooks, with the SDK's client of the sign-in that is shown. What was read
 * is kept per account and environment, and read anew after a change that names its key.
 */

/** What is read: `data` is undefined until it is there. */
export type Read<T> = { data: T | undefined; error: unknown; isPending: boolean; again: () => void };

/**
 * Reads one thing: `useRead(['wallet', id], (client, options) => client.wallet.get({ wallet_id: id }, options))`.
 * @param every milliseconds after which it is read again while the page is seen; a function of the data to stop by itself
 */
export const useRead = <T>(
  key: QueryKey,
  read: (client: Client, options: CallOptions) => Promise<T>,
  {
    every,
    enabled = true,
  }: { every?: number | ((data: T | undefined) => number | false); enabled?: boolean } = {},
): Read<T> => {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => read(session.get().client, { signal }),
    enabled,
    refetchInterval: typeof every === 'function' ? ({ state }) => every(state.data) : (every ?? false),
  });
  return { data, error, isPending, again: () => void refetch() };
};

/** A list as far as it was read. */
export type Items<T> = {
  data: readonly T[];
  error: unknown;
  isPending: boolean;
  hasMore: boolean;
  more: () => void;
  isLoadingMore: boolean;
  again: () => void;
};
type Page<T> = { data: readonly T[]; next_cursor: string | null };

/**
 * Reads a list page by page, for `Table`:
 * `useItems(['deposits'], (client, cursor, options) => client.funding.listDeposits({ cursor }, options))`.
 */
export const useItems = <T>(
  key: QueryKey,
  read: (client: Client, cursor: string | undefined, options: CallOptions) => PromiseLike<Page<T>>,
  { every }: { every?: number } = {},
): Items<T> => {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } =
    useInfiniteQuery({
      queryKey: key,
      queryFn: async ({ pageParam, signal }) => await read(session.get().client, pageParam, { signal }),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
      refetchInterval: every ?? false,
    });
  return {
    data: data?.pages.flatMap((page) => page.data) ?? [],
    error,
    isPending,
    hasMore: hasNextPage,
    more: () => void fetchNextPage(),
    isLoadingMore: isFetchingNextPage,
    again: () => void refetch(),
  };
};

/** A change: `run` makes it and gives its answer, or undefined when it failed (then `error` says why). */
export type Action<I, T> = {
  run: (input: I) => Promise<T | undefined>;
  /** For dialogs that show the error themselves. */
  runOrThrow: (input: I) => Promise<T>;
  error: unknown;
  isBusy: boolean;
  reset: () => void;
};

/**
 * Changes something. Where the API asks for a fresh sign-in, the person is asked for it and the change is made then. What is
 * under the `changes` keys is read anew afterwards.
 */
export const useAction = <I, T>(
  act: (client: Client, input: I) => Promise<T>,
  { changes = [], done }: { changes?: readonly QueryKey[]; done?: (answer: T) => void } = {},
): Action<I, T> => {
  const queries = useQueryClient();
  const { mutateAsync, error, isPending, reset } = useMutation({
    // An answer may hold a key that is shown once: it goes when the page that shows it does.
    gcTime: 0,
    mutationFn: (input: I) => withFreshSignIn(() => act(session.get().client, input)),
    onSuccess: async (answer) => {
      await Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })));
      done?.(answer);
    },
  });
  return {
    // A form is sent by Enter too, while its button waits.
    run: async (input) => (isPending ? undefined : mutateAsync(input).catch(() => undefined)),
    runOrThrow: mutateAsync,
    error,
    isBusy: isPending,
    reset,
  };
};

import {
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { CallOptions, Client } from '../../../sdk/src/main.ts';
import { withFreshSignIn } from './fresh-sign-in.ts';
import { session } from './store.ts';

/**
 * Pages read and change data with these three hooks, which use the SDK client of the current
 * sign-in. Data is cached per account and environment, and read again after a change that names its
 * key.
 */

/** The result of a read. `data` is undefined until it is loaded. */
type Read<T> = { data: T | undefined; error: unknown; isPending: boolean; again: () => void };

/**
 * Reads one object: `useRead(['wallet', id], (client, options) => client.wallet.get({ wallet_id: id
 * }, options))`.
 * @param every the interval in milliseconds while the page is visible, or a function of the data
 *   that can stop it
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

/** The loaded part of a list. */
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

/** A list that is there as a whole, for `Table`. */
export const wholeList = <T>(data: readonly T[]): Items<T> => ({
  data,
  error: null,
  isPending: false,
  hasMore: false,
  more: () => undefined,
  isLoadingMore: false,
  again: () => undefined,
});

/**
 * Reads a list page by page, for `Table`: `useItems(['deposits'], (client, cursor, options) =>
 * client.funding.listDeposits({ cursor }, options))`.
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

/** A change. `run` makes it and returns the answer, or undefined on failure (see `error`). */
type Action<I, T> = {
  run: (input: I) => Promise<T | undefined>;
  /** For dialogs that show the error themselves. */
  runOrThrow: (input: I) => Promise<T>;
  error: unknown;
  isBusy: boolean;
  reset: () => void;
};

/**
 * Changes data. If the API requires a fresh sign-in, the user is asked for it first. Afterwards
 * the data under the `changes` keys is read again.
 */
export const useAction = <I, T>(
  act: (client: Client, input: I) => Promise<T>,
  { changes = [], done }: { changes?: readonly QueryKey[]; done?: (answer: T) => void } = {},
): Action<I, T> => {
  const queries = useQueryClient();
  const { mutateAsync, error, isPending, reset } = useMutation({
    // An answer may hold a key that is shown once, so it must not stay in the cache.
    gcTime: 0,
    mutationFn: (input: I) => withFreshSignIn(() => act(session.get().client, input)),
    onSuccess: async (answer) => {
      await Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })));
      done?.(answer);
    },
  });
  return {
    // Enter can submit a form again while its button is disabled.
    run: async (input) => (isPending ? undefined : mutateAsync(input).catch(() => undefined)),
    runOrThrow: mutateAsync,
    error,
    isBusy: isPending,
    reset,
  };
};

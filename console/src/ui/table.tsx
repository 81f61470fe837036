import type { ReactNode } from 'react';
import type { Items } from '../api/data.ts';
import { Button } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { Loading } from './layout.tsx';

/**
 * A column. `show` renders the cell of an item. Numbers and money are aligned to the `end`. A
 * column without a heading holds the row's buttons. At phone width the `main` column is the title
 * of the card: the first one unless another says so.
 */
export type Column<T> = {
  heading: string;
  show: (item: T) => ReactNode;
  align?: 'start' | 'end';
  main?: boolean;
};

/** Headings whose cells are clear without them. */
const CLEAR = /^(When|What|For|Status|State|Service|)$/;

/**
 * Where a cell is in the card of its row: the title and, beside it, the last figure; below them the
 * rest.
 */
const placesOf = <T,>(columns: readonly Column<T>[]): readonly ('title' | 'side' | 'rest' | 'actions')[] => {
  const chosen = columns.findIndex(({ main }) => main === true);
  const title = Math.max(chosen, 0);
  const side = columns.findLastIndex(({ align, heading }) => align === 'end' && heading !== '');
  return columns.map(({ heading }, at) =>
    at === title ? 'title' : at === side ? 'side' : heading === '' ? 'actions' : 'rest',
  );
};

/**
 * A list of the API as a table, with loading, empty and failed states and a button for the next
 * page. At phone width each row becomes a card. `items` is what `useItems` returns.
 */
export const Table = <T,>({
  label,
  columns,
  items,
  keyOf,
  empty,
  waiting,
}: {
  /** The table's name for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  items: Items<T>;
  keyOf: (item: T) => string;
  empty: ReactNode;
  /** The text while the first page loads: "Loading your payments…". */
  waiting: string;
}) => {
  const { data, error, isPending, hasMore, more, isLoadingMore, again } = items;
  const places = placesOf(columns);
  if (isPending) return <Loading>{waiting}</Loading>;
  if (data.length === 0) return error === null ? empty : <ErrorNotice error={error} retry={again} />;
  return (
    <>
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ heading, align }) => (
              <th key={heading} scope="col" data-align={align}>
                {heading === '' ? <span className="visually-hidden">Actions</span> : heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ heading, show, align }, at) => (
                <td
                  key={heading}
                  data-place={places[at]}
                  data-label={CLEAR.test(heading) ? undefined : heading}
                  data-align={align}
                >
                  {cell(show(item))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {error !== null && <ErrorNotice error={error} retry={again} />}
      {hasMore && (
        <div className="table-more">
          <Button size="small" busy={isLoadingMore && 'Loading more…'} onPress={more}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
};

/**
 * One element, so that at phone width it stays next to its column's name. Empty cells are omitted.
 */
const cell = (content: ReactNode) => (content === null ? null : <div>{content}</div>);

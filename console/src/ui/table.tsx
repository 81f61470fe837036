import type { ReactNode } from 'react';
import type { Items } from '../lib/data.ts';
import { Button } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { Loading } from './layout.tsx';

/**
 * A column. `show` renders the cell of an item. Numbers and money are aligned to the `end`. A
 * column without a heading holds the row's buttons.
 */
export type Column<T> = {
  heading: string;
  show: (item: T) => ReactNode;
  align?: 'start' | 'end';
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
              {columns.map(({ heading, show, align }) => (
                <td key={heading} data-label={heading} data-align={align}>
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

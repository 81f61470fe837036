import type { ReactNode } from 'react';
import type { Items } from '../lib/data.ts';
import { Button } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { Loading } from './layout.tsx';

/** A column: `show` makes a cell of an item; numbers and money are at the `end`. Without a heading: buttons of the row. */
export type Column<T> = {
  heading: string;
  show: (item: T) => ReactNode;
  align?: 'start' | 'end';
};

/**
 * A list of the API as a table, with its loading, empty and failed states and a button for the next page. At phone width each
 * row becomes a card. `items` is what `useItems` gives.
 */
export const Table = <T,>({
  label,
  columns,
  items,
  keyOf,
  empty,
  waiting,
}: {
  /** What the table is of, for who does not see it. */
  label: string;
  columns: readonly Column<T>[];
  items: Items<T>;
  keyOf: (item: T) => string;
  empty: ReactNode;
  /** Words while the first page is awaited: "Asking for your payments…". */
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
          <Button size="small" busy={isLoadingMore && 'Asking for more…'} onPress={more}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
};

/** One thing, so that at phone width it stands as a whole beside its column's name; an empty cell is left out there. */
const cell = (content: ReactNode) => (content === null ? null : <div>{content}</div>);

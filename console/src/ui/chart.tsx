import { lazy, Suspense } from 'react';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Point } from './chart-point.ts';
import { Loading } from './layout.tsx';
import { Money } from './show.tsx';

const Bars = lazy(() => import('./chart-bars.tsx'));

/**
 * Amounts as bars. The library is loaded when the first chart is shown. A table below has the same
 * numbers, for exact values and for screen readers.
 * @param parts the names of the two parts of a bar, from the bottom
 */
export const Chart = ({
  label,
  points,
  parts,
  isSmall = false,
}: {
  label: string;
  points: readonly Point[];
  parts?: readonly [string, string];
  /** Half as high, beside figures. */
  isSmall?: boolean;
}) => (
  <figure>
    <span className="chart-unit quiet" aria-hidden="true">
      USDC
    </span>
    <div
      className="chart"
      data-small={isSmall || undefined}
      role="img"
      aria-label={`${label}: ${summary(points)}`}
    >
      <Suspense fallback={<Loading>Drawing the chart…</Loading>}>
        <Bars points={points} parts={parts} />
      </Suspense>
    </div>
    {parts !== undefined && (
      <p className="chart-parts quiet" aria-hidden="true">
        {parts.map((part) => (
          <span key={part}>{part}</span>
        ))}
      </p>
    )}
    <details>
      <summary>{label} as a table</summary>
      <table className="table" aria-label={label}>
        {parts !== undefined && (
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">Bar</span>
              </th>
              {parts.map((part) => (
                <th key={part} scope="col" data-align="end">
                  {part}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {points.map((point) => (
            <tr key={point.label}>
              <td data-label="">{point.label}</td>
              <td data-align="end" data-label={parts?.[0]}>
                <Money micro={point.micro} />
              </td>
              {parts !== undefined && (
                <td data-align="end" data-label={parts[1]}>
                  <Money micro={point.more ?? 0n} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  </figure>
);

const summary = (points: readonly Point[]): string => {
  const all = points.reduce((sum, { micro, more = 0n }) => sum + micro + more, 0n);
  return `${displayUsdc(all)} in ${points.length} bars`;
};

import { lazy, Suspense } from 'react';
import { formatUsdc } from '../lib/money.ts';
import { Loading } from './layout.tsx';
import { Money } from './show.tsx';

/** One bar: `micro` in micro-units. */
export type Point = { label: string; micro: bigint };

const Bars = lazy(() => import('./chart-bars.tsx'));

/**
 * Amounts as bars, most pages' only chart. Its library is loaded when it is first shown; the same numbers stand in a table
 * below, for who does not see it and who wants them exactly.
 */
export const Chart = ({ label, points }: { label: string; points: readonly Point[] }) => (
  <figure>
    <div className="chart" role="img" aria-label={`${label}: ${summary(points)}`}>
      <Suspense fallback={<Loading>Drawing the chart…</Loading>}>
        <Bars points={points} />
      </Suspense>
    </div>
    <details>
      <summary>{label} as a table</summary>
      <table className="table" aria-label={label}>
        <tbody>
          {points.map((point) => (
            <tr key={point.label}>
              <td data-label="">{point.label}</td>
              <td data-align="end">
                <Money micro={point.micro} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  </figure>
);

const summary = (points: readonly Point[]): string => {
  const all = points.reduce((sum, { micro }) => sum + micro, 0n);
  return `${formatUsdc(all)} USDC in ${points.length} bars`;
};

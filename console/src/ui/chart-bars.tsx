import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Point } from './chart-point.ts';

/** Heights are only drawn, so this is the one place where an amount becomes a float, in USDC. */
const toUsdc = (micro: bigint): number => Number(micro) / 1e6;
const text = (
  _value: unknown,
  name: unknown,
  { payload, dataKey }: { payload?: Point; dataKey?: string },
) => {
  const micro = dataKey === 'onTop' ? payload?.more : payload?.micro;
  return [micro === undefined ? '' : `${displayUsdc(micro)}`, name === 'usdc' ? '' : `${name} `];
};

/** The part of `Chart` that needs Recharts. `Chart` loads it. */
const Bars = ({ points, parts }: { points: readonly Point[]; parts?: readonly [string, string] }) => (
  <ResponsiveContainer width="100%" height="100%">
    <BarChart
      data={points.map((point) => ({ ...point, usdc: toUsdc(point.micro), onTop: toUsdc(point.more ?? 0n) }))}
      accessibilityLayer={false}
    >
      <CartesianGrid vertical={false} stroke="var(--line)" />
      <XAxis
        dataKey="label"
        tickLine={false}
        axisLine={false}
        minTickGap={24}
        interval="equidistantPreserveStart"
      />
      <YAxis width={52} tickLine={false} axisLine={false} />
      <Tooltip
        formatter={text as never}
        separator=""
        cursor={{ fill: 'var(--sunken)' }}
        contentStyle={{ background: 'var(--card)', border: '1px solid var(--line)', borderRadius: 8 }}
      />
      <Bar
        dataKey="usdc"
        name={parts?.[0]}
        stackId="bar"
        fill="var(--accent)"
        radius={parts === undefined ? [3, 3, 0, 0] : 0}
        maxBarSize={36}
        isAnimationActive={false}
      />
      {parts !== undefined && (
        <Bar
          dataKey="onTop"
          name={parts[1]}
          stackId="bar"
          fill="var(--wait)"
          maxBarSize={36}
          isAnimationActive={false}
        />
      )}
    </BarChart>
  </ResponsiveContainer>
);
export default Bars;

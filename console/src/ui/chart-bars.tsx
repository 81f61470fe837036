import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { displayUsdc, formatUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Point } from './chart-point.ts';
import { ticksOf } from './chart-ticks.ts';

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

const heightOf = ({ micro, more = 0n }: Point): bigint => micro + more;

/** The part of `Chart` that needs Recharts. `Chart` loads it. */
const Bars = ({ points, parts }: { points: readonly Point[]; parts?: readonly [string, string] }) => {
  const ticks = ticksOf(
    points.reduce((most, point) => (heightOf(point) > most ? heightOf(point) : most), 0n),
  );
  // By the value, because Recharts numbers the ticks that it shows.
  const labels = new Map(ticks.map((tick) => [toUsdc(tick), formatUsdc(tick)]));
  return (
    <ResponsiveContainer width="100%" height="100%">
      <BarChart
        data={points.map((point) => ({
          ...point,
          usdc: toUsdc(point.micro),
          onTop: toUsdc(point.more ?? 0n),
        }))}
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
        <YAxis
          width={56}
          tickLine={false}
          axisLine={false}
          ticks={ticks.map(toUsdc)}
          domain={[0, toUsdc(ticks.at(-1)!)]}
          // All of them: Recharts would leave some out where there is little room.
          interval={0}
          tickFormatter={(value: number) => labels.get(value) ?? ''}
        />
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
            fill="var(--second)"
            maxBarSize={36}
            isAnimationActive={false}
          />
        )}
      </BarChart>
    </ResponsiveContainer>
  );
};
export default Bars;

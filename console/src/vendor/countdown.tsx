import { useNow } from '../lib/clock.ts';
import { formatDuration } from '../lib/duration.ts';

/** How long it is until a moment (ISO text), second by second; `over` in its place afterwards. The moment itself on hover. */
export const Countdown = ({ until, over }: { until: string; over: string }) => {
  const left = Date.parse(until) - useNow();
  return (
    <time className="money" dateTime={until} title={new Date(until).toISOString()}>
      {left > 0 ? formatDuration(left / 1000) : over}
    </time>
  );
};

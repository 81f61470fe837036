import { useNow } from './clock.ts';
import { formatDuration } from './duration.ts';

/** Counts down to a moment (ISO text) and shows `over` afterwards. The moment is shown on hover. */
export const Countdown = ({ until, over }: { until: string; over: string }) => {
  const left = Date.parse(until) - useNow();
  return (
    <time className="money" dateTime={until} title={new Date(until).toISOString()}>
      {left > 0 ? formatDuration(left / 1000) : over}
    </time>
  );
};

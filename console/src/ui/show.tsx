import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { Meter as AriaMeter } from 'react-aria-components';
import { displayUsdc, formatUsdc } from '../../../sdk/src/generated/usdc.ts';
import { useNow } from '../lib/clock.ts';
import { exactUsdc } from '../lib/money.ts';
import { relativeTime } from '../lib/relative-time.ts';
import { shortId } from '../lib/short-id.ts';
import { Button } from './button.tsx';

/** Components that show single values. */

/**
 * An amount of USDC from micro-units (bigint, or digits as the API sends them): two decimals or as
 * many as needed, and the micro-units on hover. `sign` adds a plus. `large` is for a main figure.
 */
export const Money = ({
  micro,
  sign = false,
  large = false,
}: {
  micro: bigint | string;
  sign?: boolean;
  large?: boolean;
}) => {
  const amount = BigInt(micro);
  return (
    <span className={large ? 'money figure' : 'money'} title={exactUsdc(amount)}>
      {sign && amount > 0n ? '+' : ''}
      {formatUsdc(amount)} <span className="money-unit">USDC</span>
    </span>
  );
};

// dateStyle and timeStyle cannot show the time zone.
const date = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const clock = { ...date, hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const;
const day = new Intl.DateTimeFormat(undefined, date);
const near = new Intl.DateTimeFormat(undefined, clock);
const nearest = new Intl.DateTimeFormat(undefined, { ...clock, second: '2-digit' });
/** Formats a moment. The time and its zone stay on one line. */
const formatMoment = (format: Intl.DateTimeFormat, moment: Date): string => {
  const parts = format.formatToParts(moment);
  const clockFrom = parts.findIndex(({ type }) => type === 'hour');
  return parts
    .map(({ value }, at) => (clockFrom !== -1 && at >= clockFrom ? value.replaceAll(' ', '\u00a0') : value))
    .join('');
};

/**
 * A moment (ISO text, null for never) in the reader's time zone; UTC to the millisecond on hover.
 * `date` omits the time of day, `seconds` adds seconds. `Ago` is for lists.
 */
export const Time = ({
  at,
  never = 'never',
  date: isDate = false,
  seconds = false,
}: {
  at: string | null;
  never?: string;
  date?: boolean;
  seconds?: boolean;
}) => {
  if (at === null) return <span className="quiet">{never}</span>;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={moment.toISOString()}>
      {formatMoment(isDate ? day : seconds ? nearest : near, moment)}
    </time>
  );
};

/** How often the words of `Ago` are renewed. */
const AGO_MS = 30_000;

/** How long ago a moment of the last days was, the date of an older one; exact on hover. */
export const Ago = ({ at, never = 'never' }: { at: string | null; never?: string }) => {
  const now = useNow(AGO_MS);
  const words = at === null ? null : relativeTime(Date.parse(at), now);
  if (at === null || words === null) return <Time at={at} never={never} date />;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={`${formatMoment(nearest, moment)} · ${moment.toISOString()}`}>
      {words}
    </time>
  );
};

const GOOD =
  /^(active|confirmed|finalized|completed|redeemed|delivered|settled|succeeded|enabled|issued|approved)$/;
const WAIT = /^(pending.*|submitted|processing|prepared|open|awaiting.*|held|retrying|grace|settling)$/;
const BAD =
  /^(failed|expired|cancelled|revoked|rejected|reversed|exhausted|disabled|refused|denied|mismatch)$/;

/**
 * A state of the API (`pending_signature`) as text with a matching colour. `tone` overrides the
 * colour.
 */
export const Badge = ({ state, tone }: { state: string; tone?: 'good' | 'wait' | 'bad' | 'none' }) => {
  const guessed = GOOD.test(state) ? 'good' : WAIT.test(state) ? 'wait' : BAD.test(state) ? 'bad' : 'none';
  return (
    <span className="badge" data-tone={tone ?? guessed}>
      {state.replaceAll('_', ' ')}
    </span>
  );
};

/**
 * Copies a text.
 * @returns the label of its button, which reports the result for two seconds, and the action
 */
export const useCopy = (text: string, action = 'Copy'): [label: string, copy: () => void] => {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    // Browsers provide no clipboard over plain http. The user can select the text.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(copied === true ? 'Copied' : 'Select and copy it');
    setTimeout(() => setSaid(null), 2000);
  };
  return [said ?? action, () => void copy()];
};

/** Whether an element has room for the text that it was rendered with. */
const useRoom = (text: string) => {
  const element = useRef<HTMLElement>(null);
  const [hasRoom, setRoom] = useState(true);
  useLayoutEffect(() => {
    const code = element.current;
    const box = code?.parentElement?.parentElement;
    if (code === null || box == null) return;
    // Its own width depends on what it shows, so the whole text is measured once.
    const whole = document.createElement('code');
    whole.className = 'measured';
    whole.textContent = text;
    code.parentElement!.append(whole);
    const needed = whole.getBoundingClientRect().width;
    whole.remove();
    const button = code.nextElementSibling?.getBoundingClientRect().width ?? 0;
    const measure = () => setRoom(needed + button + GAP < box.getBoundingClientRect().width);
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    measure();
    return () => observer.disconnect();
  }, [text]);
  return { element, hasRoom };
};
/** Between a text and its button, in pixels. */
const GAP = 8;

/**
 * An id, key or address with a button that copies it: whole where there is room, otherwise its
 * first and last characters. The whole text is shown on hover.
 * @param block all of it, wrapped: for keys, and for addresses that somebody signs
 * @param short always short: for cells of tables and for sentences
 */
export const Copyable = ({
  text,
  label,
  block = false,
  short = false,
}: {
  text: string;
  /** The button's name: "Copy service id". */
  label: string;
  block?: boolean;
  short?: boolean;
}) => {
  const [action, copy] = useCopy(text);
  const { element, hasRoom } = useRoom(text);
  const shown = block || (hasRoom && !short) ? text : shortId(text);
  return (
    <span className="copyable" data-block={block || undefined}>
      <code ref={element} title={shown === text ? undefined : text}>
        {shown}
      </code>
      <Button size="small" variant="quiet" aria-label={`${action} ${label}`} onPress={copy}>
        {action}
      </Button>
    </span>
  );
};

/**
 * How much of a limit is used: `spent` and `held` of `limit`, in micro-units. The text repeats what
 * the bar shows. Usage above the limit (a lowered cap) leaves 0, never less.
 */
export const Meter = ({
  label,
  spent,
  held = 0n,
  limit,
  note,
}: {
  label: string;
  spent: bigint;
  held?: bigint;
  limit: bigint;
  /** An additional note, for instance when the period resets. */
  note?: ReactNode;
}) => {
  // Thousandths as bigint, so that no amount of money becomes a float.
  const share = (part: bigint): number =>
    limit === 0n ? 1000 : Number((part * 1000n) / limit > 1000n ? 1000n : (part * 1000n) / limit);
  const [used, both] = [share(spent), share(spent + held)];
  const left = limit > spent + held ? limit - spent - held : 0n;
  const text = `${formatUsdc(spent)} spent, ${formatUsdc(held)} held, ${formatUsdc(left)} left of ${displayUsdc(limit)}`;
  return (
    <AriaMeter aria-label={label} value={both} maxValue={1000} valueLabel={text}>
      <div className="meter-head">
        <span>{label}</span>
        <span>
          <Money micro={left} /> left of <Money micro={limit} />
        </span>
      </div>
      <svg className="meter-bar" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
        <rect width="1000" height="8" rx="4" />
        <rect width={used} height="8" />
        <rect x={used} width={both - used} height="8" />
      </svg>
      <div className="quiet">
        <Money micro={spent} /> spent
        {held > 0n && (
          <>
            , <Money micro={held} /> held
          </>
        )}
        {note !== undefined && <> · {note}</>}
      </div>
    </AriaMeter>
  );
};

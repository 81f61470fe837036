import { Countdown } from '../lib/countdown.tsx';
import { Money, Notice } from '../ui/index.ts';
import type { Settlement } from './sales-figures.ts';

/** An authorization that is open: what it will pay, and whether its wallet still covers it. */
export const AuthorizationNotice = ({
  settlement: { status, authorization },
}: {
  settlement: Settlement;
}) => {
  if (authorization === undefined || (status !== 'authorized' && status !== 'capturing')) return null;
  if (authorization.at_risk_at !== null)
    return (
      <Notice tone="bad" title="The buyer’s wallet no longer covers this">
        No further use is accepted. What was used is captured now, if the wallet still pays it. Otherwise you
        lose <Money micro={authorization.used} />.
      </Notice>
    );
  if (status === 'capturing') return null;
  return (
    <Notice tone="wait" title="Authorized, nothing is paid yet">
      {authorization.mode === 'usage'
        ? 'What was used is paid when the authorization ends or reaches its threshold'
        : 'It is paid when your server captures it'}
      , at the latest in <Countdown until={authorization.capture_ends_at} over="a moment" />.
    </Notice>
  );
};

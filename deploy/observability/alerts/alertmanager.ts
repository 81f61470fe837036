import { INHIBITIONS } from './inhibitions.ts';

/** The address of a receiver, to be replaced: `.invalid` is resolved nowhere. */
const receiver = (name: string, sendResolved: boolean) => ({
  name,
  webhook_configs: [{ url: `https://${name}.invalid/`, send_resolved: sendResolved }],
});

/**
 * The configuration of Alertmanager. A page is sent at once, a ticket once a day, and the Watchdog
 * every minute, to a program outside that pages when it does not come.
 */
export const alertmanagerConfig = () => ({
  route: {
    receiver: 'ticket',
    group_by: ['alertname', 'environment', 'service_name', 'journey'],
    group_wait: '30s',
    group_interval: '5m',
    repeat_interval: '24h',
    routes: [
      {
        receiver: 'watchdog',
        matchers: ['alertname="Watchdog"'],
        group_wait: '0s',
        group_interval: '1m',
        repeat_interval: '1m',
      },
      { receiver: 'page', matchers: ['severity="page"'], group_wait: '5s', repeat_interval: '1h' },
    ],
  },
  receivers: [receiver('page', true), receiver('ticket', true), receiver('watchdog', false)],
  inhibit_rules: [
    ...INHIBITIONS.map(({ by, silences, equal }) => ({
      source_matchers: [`alertname="${by}"`],
      target_matchers: [`alertname=~"${silences.join('|')}"`],
      equal,
    })),
    // The ticket of a journey says no more than its page.
    {
      source_matchers: ['alertname=~".+BudgetFast"'],
      target_matchers: ['alertname=~".+BudgetSlow"'],
      equal: ['environment', 'journey', 'objective'],
    },
  ],
});

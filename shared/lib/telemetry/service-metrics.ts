import { SERVICE_NAMES } from '../../contract/service.ts';
import { counter, gauge, type Reporter } from './metric.ts';

/** The services that consume events. */
const READERS: readonly Reporter[] = ['quote', 'settlement', 'wallet', 'funding', 'identity', 'webhook'];

/** The metrics that every service with a schema reports, a part of metrics-catalog.ts. */
export const SERVICE_METRICS = {
  quittance_outbox_messages: gauge(
    '{message}',
    SERVICE_NAMES,
    {},
    'Messages of the service that are committed and not published yet; counted up to 10,000.',
  ),
  quittance_outbox_oldest_age_seconds: gauge(
    's',
    SERVICE_NAMES,
    {},
    'Time since the oldest of these messages was committed.',
  ),
  quittance_quarantine_messages: gauge(
    '{message}',
    SERVICE_NAMES,
    {},
    'Quarantined messages that wait for a decision.',
  ),
  quittance_quarantine_oldest_age_seconds: gauge(
    's',
    SERVICE_NAMES,
    {},
    'Time since the oldest of these messages was quarantined.',
  ),
  quittance_events_waiting: gauge(
    '{message}',
    READERS,
    {},
    'Messages of the stream of events that the service has not handled yet, read every 30 seconds.',
  ),
  quittance_event_stream_used_ratio: gauge(
    '1',
    READERS,
    {},
    'The used part of the bytes that the stream of events may have. A full stream drops its oldest messages.',
  ),
  quittance_event_stream_losses_total: counter(
    '{loss}',
    READERS,
    {},
    'Times at which the stream had lost events that the service had not surely handled. It read them from their publishers.',
  ),
  quittance_job_runs_total: counter(
    '{run}',
    SERVICE_NAMES,
    { task: null, outcome: ['ok', 'error'] },
    'Runs of periodic jobs, including the sweepers.',
  ),
  quittance_gauge_collector_up: gauge(
    '1',
    SERVICE_NAMES,
    { collector: null },
    '0 if a gauge collector failed at this scrape. Its gauges are then NaN, not zero.',
  ),
} as const;

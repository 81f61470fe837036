import { DELIVERY_ERRORS } from '../../contract/webhook.ts';
import { counter, gauge, histogram } from './metric.ts';

/** Work that somebody waits for: a mail, a webhook. */
const QUEUE_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600];

/** The metrics of mails and webhooks, a part of metrics-catalog.ts. */
export const SENDING_METRICS = {
  quittance_mails_queued: gauge(
    '{mail}',
    ['identity'],
    {},
    'Mails that the mail server has not accepted yet; counted up to 10,000.',
  ),
  quittance_mails_oldest_age_seconds: gauge(
    's',
    ['identity'],
    {},
    'Time since the oldest of these mails was queued.',
  ),
  quittance_sign_in_mail_seconds: histogram(
    QUEUE_SECONDS,
    ['identity'],
    {},
    'From a requested sign-in link to the acceptance of its mail by the mail server.',
  ),
  quittance_webhook_first_answer_seconds: histogram(
    QUEUE_SECONDS,
    ['webhook'],
    {},
    'From an event to the first attempt that its endpoint answered, with whatever status. A delivery that its endpoint has not answered at its first attempt is left out: the endpoint decides how long it takes.',
  ),
  quittance_webhook_attempts_total: counter(
    '{attempt}',
    ['webhook'],
    { outcome: ['delivered', ...DELIVERY_ERRORS] },
    'Attempts to deliver events to customers’ endpoints, by outcome.',
  ),
  quittance_webhook_due: gauge(
    '{delivery}',
    ['webhook'],
    {},
    'Due deliveries that have not begun, to endpoints that do not fail; counted up to 10,000.',
  ),
  quittance_webhook_oldest_due_age_seconds: gauge(
    's',
    ['webhook'],
    {},
    'Time since the oldest of these deliveries was due.',
  ),
};

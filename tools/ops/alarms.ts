import { z } from 'zod';

/** Prometheus answers at once, or it has a problem of its own. */
const ANSWER_WITHIN_MS = 1_500;

const Alerts = z.object({
  data: z.object({
    alerts: z.array(
      z.object({
        labels: z.record(z.string(), z.string()),
        state: z.string(),
        activeAt: z.string().optional(),
      }),
    ),
  }),
});

/** The alarms that are active. A text says why they are not known. */
export type Alarms =
  | {
      known: true;
      firing: { name: string; severity: string; environment: string | null; since: string | null }[];
    }
  | { known: false; why: string };

/**
 * Asks Prometheus for the alarms that fire in an environment, or in all.
 * @param url PROMETHEUS_URL; its user and password are sent as such
 */
export const readAlarms = async (url: string | undefined, environment: string): Promise<Alarms> => {
  if (url === undefined)
    return { known: false, why: 'set PROMETHEUS_URL to the address of Prometheus, and they are shown here' };
  if (!URL.canParse(url)) return { known: false, why: 'PROMETHEUS_URL is not a URL' };
  const { origin, pathname, username, password } = new URL(url);
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = username === '' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  try {
    const answer = await fetch(`${origin}${pathname.replace(/\/$/, '')}/api/v1/alerts`, {
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (!answer.ok) return { known: false, why: `Prometheus at ${origin} answers ${answer.status}` };
    const { alerts } = Alerts.parse(await answer.json()).data;
    return {
      known: true,
      firing: alerts
        .filter(
          ({ state, labels }) => state === 'firing' && (labels.environment ?? environment) === environment,
        )
        .map(({ labels, activeAt }) => ({
          name: labels.alertname ?? 'without a name',
          severity: labels.severity ?? 'none',
          environment: labels.environment ?? null,
          since: activeAt ?? null,
        })),
    };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { known: false, why: `Prometheus at ${origin} does not answer: ${cause?.code ?? name}` };
  }
};

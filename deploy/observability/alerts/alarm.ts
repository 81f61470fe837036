type Labels = Readonly<Record<string, string>>;

/** What Prometheus has read, by series in the notation of promtool, one value a minute. */
type Situation = { series: Labels; at: string };

/**
 * An alarm. `page` wakes somebody, `ticket` is for the next working day, and `none` is for a
 * program that misses it when it ends.
 */
export type Alarm = {
  severity: 'page' | 'ticket' | 'none';
  summary: string;
  /** Spaces and line breaks do not matter. */
  expr: string;
  for?: string;
  /** Labels that the rule sets, beside those of its expression. */
  labels?: Labels;
  /** Where the alarm is explained. Default: the section of docs/runbook.md that has its name. */
  runbook?: string;
  /** A case in which it fires, with the labels that it has then. */
  fires: Situation & { labels: Labels };
  /** A case just below the threshold. Null: it always fires. */
  quiet: Situation | null;
  /** More cases, by what they show. `labels` null: the alarm is quiet. */
  further?: Readonly<Record<string, Situation & { labels: Labels | null }>>;
};

/** Alarms by their names. */
export type Alarms = Readonly<Record<string, Alarm>>;

/** A series that Prometheus computes from others. */
export type Recording = { record: string; expr: string; labels?: Labels };

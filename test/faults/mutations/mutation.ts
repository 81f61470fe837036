import type { TrafficName } from '../break.ts';

/**
 * Each rule of docs/design/settle.md that a campaign can check, switched off alone. A campaign that
 * then does not break proves nothing. `npm run prove -- faults --mutate <name>` runs one, `--mutate
 * all` each in turn, with the traffic that needs the rule.
 */
export type Mutation = {
  name: string;
  rule: string;
  /** The kind of traffic that must find it, by default our own payments. */
  traffic?: TrafficName;
  /** Texts of product files that are replaced while a service loads them. Each must exist. */
  patches?: readonly { file: string; from: string; to: string }[];
  /** Run in the database before the load begins. */
  sql?: string;
  /** Faults under which the rule is needed. */
  faults: readonly string[];
  /** The invariant that must break. Without one, any may. */
  breaks?: string;
};

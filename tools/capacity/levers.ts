import type { Load } from './load.ts';
import type { Manifests, Site } from './site.ts';

/** A limit, and the values that an operator sets to move it. */

export type Plan = { site: Site; load: Load };
/** What moves a limit: a value that an operator sets. */
export type Lever = {
  name: string;
  read: (plan: Plan) => number;
  set: (plan: Plan, value: number) => Plan;
  /** The value is rounded up to a multiple of it. */
  step: number;
  /** A higher value has no effect, or is refused. */
  most?: number;
  /** As the manifests or the command write it. */
  show: (value: number) => string;
};
export type Unit = 'settles' | 'uses' | 'x402' | 'payers' | 'vendors';
/** M: measured. C: computed from measured figures. R: read in a specification. E: estimated. */
type Source = 'M' | 'C' | 'R' | 'E';
export type Limit = {
  what: string;
  unit: Unit;
  source: Source;
  /** The settings that it reads. */
  reads: readonly string[];
  lever: Lever | null;
  /** What moves it where the lever ends, or without one. */
  otherwise?: string;
  /** The part of the limit that the load uses; 1: all of it. In proportion to the rates. */
  part: (plan: Plan) => number;
};

/** The bounds of the numbers that an operator may give an account (docs/operations.md, Limits). */
const MOST_FACTOR = 1000;

const whole = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: 0, useGrouping: false });

/** A setting of a service. */
export const setting = (name: string, step = 1, most?: number): Lever => ({
  name,
  read: ({ site }) => site.settings[name]!,
  set: ({ site, load }, value) => ({
    load,
    site: { ...site, settings: { ...site.settings, [name]: value } },
  }),
  step,
  ...(most !== undefined && { most }),
  show: whole,
});
export const SOL = 1e9;
export const USDC = 1e6;

type Numeric<T> = { [K in keyof T]: T[K] extends number ? K : never }[keyof T];
export const manifest = (
  key: Numeric<Manifests>,
  name: string,
  step: number,
  unit: string,
  size = 1,
): Lever => ({
  name,
  read: ({ site }) => site.manifests[key],
  set: ({ site, load }, value) => ({
    load,
    site: { ...site, manifests: { ...site.manifests, [key]: value } },
  }),
  step,
  show: (value) => `${whole(value / size)}${unit}`,
});
export const replicas = (workload: string, most?: number): Lever => ({
  name: `most replicas of ${workload}`,
  read: ({ site }) => site.manifests.replicas[workload]!.max,
  set: ({ site, load }, max) => {
    const own = { ...site.manifests.replicas[workload]!, max };
    const manifests = { ...site.manifests, replicas: { ...site.manifests.replicas, [workload]: own } };
    return { load, site: { ...site, manifests } };
  },
  step: 1,
  ...(most !== undefined && { most }),
  show: whole,
});
export const factor = (whose: 'vendor' | 'payer'): Lever => ({
  name: `ops limits set of a ${whose}`,
  read: ({ load }) => load[`${whose}Factor`],
  set: ({ site, load }, value) => ({ site, load: { ...load, [`${whose}Factor`]: value } }),
  step: 1,
  most: MOST_FACTOR,
  show: whole,
});
export const rpcPlan: Lever = {
  name: 'RPC plans',
  read: ({ load }) => load.rpcPlan!,
  set: ({ site, load }, value) => ({ site, load: { ...load, rpcPlan: value } }),
  step: 1,
  show: (value) => `${whole(value)} calls a second`,
};

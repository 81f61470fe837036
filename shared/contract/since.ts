import type { z } from 'zod';

/**
 * What a release adds to messages, stored requests and answers between services. It reads the
 * addition, and writes it one release later: the release before runs beside it during an upgrade,
 * and again after a way back, and it would drop what it does not know
 * (docs/adr/0093-two-versions.md).
 */

/**
 * The releases before this one, whose additions may be written. A release adds its predecessor
 * (docs/versioning.md, A release).
 */
export const WRITTEN = [] as const satisfies readonly string[];
type Written = (typeof WRITTEN)[number];

declare const addedBy: unique symbol;
/** A value that a release has added. It is read as what it is, and only `write` makes one. */
export type Added<Release extends string, T> = T & { readonly [addedBy]: Release };

/**
 * A field or a value of an enumeration that a release adds:
 * `reason: since('1.1.0', z.string()).optional()`. As a later release writes it, a message of the
 * release itself does not have it.
 */
export const since = <Release extends string, S extends z.ZodType>(
  release: Release,
  schema: S,
): z.ZodType<Added<Release, z.infer<S>>> =>
  schema.meta({ since: release }) as unknown as z.ZodType<Added<Release, z.infer<S>>>;

/** Writes what an earlier release has added. What this one adds does not compile. */
export const write = <Release extends Written, T>(_release: Release, value: T): Added<Release, T> =>
  value as Added<Release, T>;

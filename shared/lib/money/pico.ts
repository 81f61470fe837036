/*
 * Use is added up in picodollars, 10⁻¹² USDC, so that a unit may cost less than a micro-unit. What
 * holds, is captured and is shown are micro-units, as on the chain: the sum of the use, rounded up.
 * A ceiling is whole micro-units, so the rounded sum stays within it.
 */

const PICO_OF_MICRO = 1_000_000n;

/** The most micro-units whose picodollars fit a bigint of Postgres: nine million USDC. */
export const MAX_MICRO_IN_PICO = 9_000_000_000_000n;

/** Micro-units as picodollars. */
export const picoOf = (micro: bigint): bigint => micro * PICO_OF_MICRO;

/** Picodollars, not negative, as micro-units, rounded up. */
export const microOf = (pico: bigint): bigint => (pico + PICO_OF_MICRO - 1n) / PICO_OF_MICRO;

/**
 * What a plain sign-in may pay unless its owner has set other limits, in micro-units. They bound
 * what a stolen session costs. A payment of an API fits in them (docs/adr/0063).
 */
export const DEFAULT_LIMITS = { perPaymentMicro: 10_000_000n, dailyMicro: 25_000_000n } as const;

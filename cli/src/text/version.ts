/** Set by the build. */
declare const CLI_VERSION: string | undefined;

/** The version of this package; `0.0.0` if it runs from its sources. */
export const VERSION = typeof CLI_VERSION === 'string' ? CLI_VERSION : '0.0.0';

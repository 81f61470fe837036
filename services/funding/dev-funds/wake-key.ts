/** The key under which a call waits for the progress of its test funds. */
export const wakeKey = (fundId: string): string => `fund.${fundId}`;

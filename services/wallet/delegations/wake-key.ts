/** The key under which a call waits for the progress of a preparation. */
export const wakeKey = (preparationId: string): string => `preparation.${preparationId}`;

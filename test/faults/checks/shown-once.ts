/**
 * Creates something whose key is shown once. A busy machine answers 503, and the repeat of the call
 * does not show the key again: then another one is created.
 */
export const untilShown = async <T extends { api_key: string }>(create: () => Promise<T>): Promise<T> => {
  for (;;) {
    const created = await create();
    if (created.api_key) return created;
  }
};

/** A map of at most `max` entries. It drops the one that was set first. */
export const boundedMap = <V>(max: number) => {
  const held = new Map<string, V>();
  return {
    get: (key: string) => held.get(key),
    has: (key: string) => held.has(key),
    delete: (key: string) => held.delete(key),
    set: (key: string, value: V) => {
      held.delete(key);
      if (held.size >= max) held.delete(held.keys().next().value!);
      held.set(key, value);
    },
  };
};

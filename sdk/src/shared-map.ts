/**
 * A map that the ES modules and the CommonJS form of this package share in one program, because a
 * handler may load the other form than the paywall before it.
 */
export const sharedMap = <K extends WeakKey, V>(name: string): WeakMap<K, V> => {
  const held = globalThis as unknown as Record<symbol, WeakMap<K, V> | undefined>;
  const key = Symbol.for(`@quittance/sdk ${name}`);
  held[key] ??= new WeakMap();
  return held[key];
};

/**
 * Shifts `Date` of this context.
 * @param offsetMs how far the clock is from that of the machine at this moment
 */
export const shiftDate = (offsetMs: () => number): void => {
  const RightDate = globalThis.Date;
  const rightNow = RightDate.now.bind(RightDate);
  const now = () => rightNow() + offsetMs();
  // Only a call without arguments reads the clock. Prototype and class stay those of the right one.
  globalThis.Date = new Proxy(RightDate, {
    construct: (target, given, made) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, made) as Date,
    apply: (target) => new target(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
};

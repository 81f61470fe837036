type Packages = Record<
  string,
  { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }
>;
type Part = { manifest: { dependencies: Record<string, string> }; packages: Packages };
export const SERVER_PACKAGES: readonly string[];
export const PAGE_PACKAGES: readonly string[];
export const partsForStart: (manifest: object, lock: object) => [Part, Part];

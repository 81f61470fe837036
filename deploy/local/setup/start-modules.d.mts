export const START_PACKAGES: readonly string[];
type Packages = Record<string, { dependencies?: Record<string, string> }>;
export const reduce: (
  manifest: object,
  lock: object,
) => { manifest: { dependencies: Record<string, string> }; lock: { packages: Packages } };
export const installForStart: (say: (line: string) => void) => void;

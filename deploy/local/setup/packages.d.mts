type Packages = Record<string, { version?: string; integrity?: string; link?: boolean }>;
export const packagesIn: (modules: string) => Packages | undefined;
export const isAddition: (there: Packages, locked: Packages) => boolean;
export const addMissing: (from: string, to: string) => void;

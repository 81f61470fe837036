type Locked = { link?: boolean; inBundle?: boolean; integrity?: string; resolved?: string };
export const gapsOf: (lock: { packages: Record<string, Locked> }) => string[];
export const assertComplete: (file: string) => void;

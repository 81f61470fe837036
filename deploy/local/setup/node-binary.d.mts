export const NODE_BINARIES: { version: string; packages: Record<string, string> };

export const refusalOf: (stateDir: string, root: string) => string | undefined;
export const refusalOfStart: (
  root: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
) => string | undefined;
export const checkStateFormat: (stateDir: string, root: string, databases?: number) => void;

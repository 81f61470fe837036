export const usersOf: (binary: string) => number[];

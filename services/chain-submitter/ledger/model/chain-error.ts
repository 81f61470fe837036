/** `err` of a simulated or included transaction, as JSON-RPC returns it. */
export type ChainError = string | { InstructionError: [number, string | { Custom: number }] } | object;

/** The custom error code of the token program; null for another error. */
export const tokenErrorCode = (error: ChainError): number | null => {
  if (typeof error === 'string' || !('InstructionError' in error)) return null;
  const [, reason] = error.InstructionError as [number, string | { Custom: number }];
  return typeof reason === 'object' ? reason.Custom : null;
};

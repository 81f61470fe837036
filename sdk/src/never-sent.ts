/**
 * Errors of fetch by which no connection was made. They are known by the codes of Node. Browsers
 * name no reason.
 */
const NO_CONNECTION = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const DEEPEST = 5;

/** The errors behind an error, from the outermost one. */
const causesOf = (error: unknown): { code?: unknown; message?: unknown; errors?: unknown }[] => {
  const found = [];
  for (let at = error; typeof at === 'object' && at !== null && found.length < DEEPEST; )
    [at] = [(at as { cause?: unknown }).cause, found.push(at)];
  return found;
};

/** Why a call was not answered, as the code of Node. Null: it has none. */
export const reasonOfNoAnswer = (error: unknown): string | null =>
  causesOf(error)
    .map(({ code }) => code)
    .find((code): code is string => typeof code === 'string') ?? null;

/**
 * Whether a call has certainly not left this machine, so that it cannot have been carried out. Of
 * several addresses, no connection was made to any. Unknown reasons count as sent.
 */
export const wasNeverSent = (error: unknown): boolean =>
  causesOf(error).some(({ code, message, errors }) =>
    Array.isArray(errors) && errors.length > 0
      ? errors.every(wasNeverSent)
      : NO_CONNECTION.has(String(code)) || message === 'bad port',
  );

/** The return values of PKCS#11 3.0 that a module may return here, by their number. */
const NAMES: Record<number, string> = {
  2: 'CKR_HOST_MEMORY',
  3: 'CKR_SLOT_ID_INVALID',
  5: 'CKR_GENERAL_ERROR',
  6: 'CKR_FUNCTION_FAILED',
  7: 'CKR_ARGUMENTS_BAD',
  10: 'CKR_CANT_LOCK',
  18: 'CKR_ATTRIBUTE_TYPE_INVALID',
  33: 'CKR_DATA_LEN_RANGE',
  48: 'CKR_DEVICE_ERROR',
  49: 'CKR_DEVICE_MEMORY',
  50: 'CKR_DEVICE_REMOVED',
  84: 'CKR_FUNCTION_NOT_SUPPORTED',
  96: 'CKR_KEY_HANDLE_INVALID',
  99: 'CKR_KEY_TYPE_INCONSISTENT',
  104: 'CKR_KEY_FUNCTION_NOT_PERMITTED',
  112: 'CKR_MECHANISM_INVALID',
  113: 'CKR_MECHANISM_PARAM_INVALID',
  130: 'CKR_OBJECT_HANDLE_INVALID',
  144: 'CKR_OPERATION_ACTIVE',
  145: 'CKR_OPERATION_NOT_INITIALIZED',
  160: 'CKR_PIN_INCORRECT',
  161: 'CKR_PIN_INVALID',
  162: 'CKR_PIN_LEN_RANGE',
  163: 'CKR_PIN_EXPIRED',
  164: 'CKR_PIN_LOCKED',
  176: 'CKR_SESSION_CLOSED',
  177: 'CKR_SESSION_COUNT',
  179: 'CKR_SESSION_HANDLE_INVALID',
  224: 'CKR_TOKEN_NOT_PRESENT',
  225: 'CKR_TOKEN_NOT_RECOGNIZED',
  256: 'CKR_USER_ALREADY_LOGGED_IN',
  257: 'CKR_USER_NOT_LOGGED_IN',
  258: 'CKR_USER_PIN_NOT_INITIALIZED',
  259: 'CKR_USER_TYPE_INVALID',
  400: 'CKR_CRYPTOKI_NOT_INITIALIZED',
  401: 'CKR_CRYPTOKI_ALREADY_INITIALIZED',
};

/** The return values on which the code decides. */
export const CKR = {
  ATTRIBUTE_SENSITIVE: 17,
  ATTRIBUTE_TYPE_INVALID: 18,
  USER_ALREADY_LOGGED_IN: 256,
  CRYPTOKI_ALREADY_INITIALIZED: 401,
} as const;

/** The PIN was refused. Another attempt with the same PIN could lock the token. */
export const PIN_REFUSED: ReadonlySet<number> = new Set([160, 161, 162, 163, 164]);

/** A call that returned something else than CKR_OK. */
export class Pkcs11Error extends Error {
  readonly call: string;
  readonly returned: number;
  constructor(call: string, returned: number) {
    super(`${call} returned ${NAMES[returned] ?? `0x${returned.toString(16)}`}`);
    this.call = call;
    this.returned = returned;
  }
}

/** A key that cannot be used, on a token that works. */
export class KeyRefused extends Error {}

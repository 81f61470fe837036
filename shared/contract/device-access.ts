import type { z } from 'zod';

/**
 * What the sign-in of a device may call (docs/adr/0046). Its code may have been phished, so it
 * reads, pays within the limits of the account, and makes nothing but delegates with limits.
 * `served`: the whole operation, but for what `stepUp.when` names. `within`: the inputs
 * that the schema accepts, which `rule` describes.
 */
export type DeviceAccess = 'served' | { rule: string; within: z.ZodType };

type Operation = {
  http: { method: string };
  access: readonly string[];
  stepUp?: true | { when: object };
  fromDevice?: DeviceAccess;
};

/** Unset, a device may call what only reads: a new write is closed to devices until it opens. */
const isRead = ({ http, stepUp }: Operation): boolean => http.method === 'GET' && stepUp === undefined;

/** Whether the sign-in of a device may call an operation, at least with some inputs. */
export const isOpenToDevices = (op: Operation): boolean => op.fromDevice !== undefined || isRead(op);

const ELSEWHERE = 'do it in the console, signed in by mail or with a passkey';

/** The refusal of an operation that is closed to devices, or of a part that needs a person. */
export const DEVICE_REFUSAL = `the sign-in of a device may not do this; ${ELSEWHERE}`;

/**
 * Why the sign-in of a device may not make a call with this input: what is wrong, then what to do.
 * Null: it may.
 */
export const deviceRefusal = ({ fromDevice }: Operation, input: unknown): string | null => {
  if (fromDevice === undefined || fromDevice === 'served') return null;
  if (fromDevice.within.safeParse(input).success) return null;
  return `the sign-in of a device may do this only ${fromDevice.rule}; otherwise ${ELSEWHERE}`;
};

/** The sentence of the API reference. Undefined: a device may make every such call. */
export const deviceText = (op: Operation): string | undefined => {
  if (!op.access.includes('jwt') || isRead(op)) return undefined;
  const { fromDevice, stepUp } = op;
  if (fromDevice === undefined) return 'The sign-in of a device may not call it.';
  if (fromDevice !== 'served') return `The sign-in of a device may call it only ${fromDevice.rule}.`;
  return stepUp && 'The sign-in of a device may call it only for what needs no recent sign-in.';
};

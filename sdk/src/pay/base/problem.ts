import { jsonOf } from './dialects.ts';

/** The types of Problem Details that the draft of MPP defines. */
const CODES = [
  'payment-required',
  'payment-insufficient',
  'payment-expired',
  'payment-action-required',
  'verification-failed',
  'method-unsupported',
  'malformed-credential',
  'invalid-challenge',
  'invalid-payload',
  'bad-request',
  'internal-payment-error',
] as const;
/** Why a vendor of MPP refuses a payment, by its own word. */
export type VendorProblem = (typeof CODES)[number];

/** The reason as a sentence, for the message of an error. */
export const reasonOf = (problem: VendorProblem | null): string =>
  problem === null ? '' : ` Its reason: ${problem}.`;

const TYPE = /^https:\/\/paymentauth\.org\/problems\/([a-z-]+)$/;

/** A vendor that sends its reason slowly does not delay what is known without it. */
const WAIT_MS = 2000;

const waited = (): Promise<null> =>
  new Promise((resolve) => {
    AbortSignal.timeout(WAIT_MS).addEventListener('abort', () => resolve(null));
  });

/**
 * The type of the Problem Details of an answer. Null: there are none that the draft defines. Their
 * texts are a stranger's, so nobody gets them. The answer stays readable.
 */
export const problemIn = async (response: Response): Promise<VendorProblem | null> => {
  if (!/^application\/problem\+json\b/i.test(response.headers.get('content-type') ?? '')) return null;
  const body = await Promise.race([jsonOf(response).catch(() => null), waited()]);
  const { type } = (body ?? {}) as { type?: unknown };
  const [, code] = (typeof type === 'string' && TYPE.exec(type)) || [];
  return CODES.find((each) => each === code) ?? null;
};

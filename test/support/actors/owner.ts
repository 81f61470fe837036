import { type Answer, type Api, must } from '../../../deploy/local/seed/api.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { createAuthenticator, type Options } from './authenticator.ts';

/** An owner's passkey, and the origin of the console in which it signs. */
export type OwnersPasskey = { passkey: ReturnType<typeof createAuthenticator>; origin: string };

/** A payment that waits for its owner, as the owner reads it. */
export type Approval = {
  approval_id: string;
  status: string;
  delegate_id: string;
  payment_attempt_id: string;
  amount: string;
  payees: { address: string; amount: string }[];
  quote_id: string | null;
  settlement_id: string | null;
};

/** Adds a passkey to the account that has signed in. */
export const registerPasskey = async (
  api: Api,
  { gateway_url }: Pick<Stack, 'gateway_url'>,
  token: string,
): Promise<OwnersPasskey> => {
  const origin = `http://localhost:${new URL(gateway_url).port}`;
  const passkey = createAuthenticator();
  const options = await must(
    api<Options>('POST /v1/auth/passkey/register/options', { token, body: {} }),
    'register options',
  );
  const response = passkey.create(options, { origin });
  await must(api('POST /v1/auth/passkey/register/verify', { token, body: { response } }), 'register');
  return { passkey, origin };
};

/**
 * Signs an approval with the passkey. A session has one open challenge, so its approvals go one
 * after the other.
 * @returns the answer to the approval, or that to its beginning if there is nothing to sign
 */
export const approveWith = async (
  api: Api,
  { passkey, origin, token }: OwnersPasskey & { token: string },
  approvalId: string,
): Promise<Answer<Approval>> => {
  const options = await api<Options>(`POST /v1/approvals/${approvalId}/options`, { token });
  if (options.status !== 200) return options as Answer<never>;
  const response = passkey.get(options.body, { origin });
  return api<Approval>(`POST /v1/approvals/${approvalId}/approve`, { token, body: { response } });
};

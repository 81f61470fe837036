import { z } from 'zod';
import { extended } from '../extended.ts';
import { operation } from '../service.ts';
import { Approval, ApprovalId } from '../settlement/approvals.ts';
import { Assertion, Descriptor, PasskeyOptions } from './webauthn.ts';

const byId = z.strictObject({ approval_id: ApprovalId });
const shared = { access: ['jwt'], withoutRedis: 'refuse', params: byId } as const;

/** Approval of a delegate's payment with a passkey. Settlement stores the approvals. */
export const approvalOperations = {
  approvalOptions: operation({
    summary: 'Begin to approve a payment with a passkey',
    description:
      'The answer is the argument of navigator.credentials.get, in its JSON form. The challenge is a hash of the ' +
      'quote, the amount and the payee, so the signature approves nothing else. Valid for 5 minutes.',
    journey: 'agent',
    http: { method: 'POST', path: '/v1/approvals/:approval_id/options', status: 200 },
    authorisedBy: 'nothing',
    ...shared,
    repeatable: true,
    bodyOptional: true,
    output: extended(
      PasskeyOptions,
      { allowCredentials: z.array(Descriptor).describe('The passkeys of the account') },
      { id: 'PasskeyApprovalOptions' },
    ),
    errors: ['not_found', 'conflict'],
  }),
  approve: operation({
    summary: 'Approve a payment with a passkey',
    description: 'The payment is made when the delegate repeats its attempt. The limits are evaluated then.',
    journey: 'agent',
    http: { method: 'POST', path: '/v1/approvals/:approval_id/approve', status: 200 },
    authorisedBy: { jwt: 'passkey' },
    ...shared,
    repeatable: true,
    body: z
      .strictObject({ response: Assertion.describe('What the browser returned, as JSON') })
      .meta({ id: 'ApprovePaymentRequest' }),
    output: Approval,
    errors: ['not_found', 'conflict'],
  }),
};

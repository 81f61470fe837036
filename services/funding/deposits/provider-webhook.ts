import { notFound } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type AcceptReportDeps, acceptReport } from './accept-report.ts';
import type { Onramps } from './providers/onramp.ts';

/**
 * POST /v1/providers/:provider/:environment/webhook. The provider waits 5 s for the answer, so the
 * handler calls no other service. The job that polls the chain claims the deposit within a second.
 * The gateway routes by the environment in the path. A webhook of another environment is signed
 * with another key and therefore unauthorized.
 */
export const providerWebhook =
  (deps: AcceptReportDeps & { onramps: Onramps }): Handler<typeof funding.operations.providerWebhook> =>
  async ({ provider, raw_body, raw_headers }) => {
    const onramp = deps.onramps[provider];
    if (onramp === undefined) throw notFound('provider in this environment');
    const report = onramp.readWebhook({ body: Buffer.from(raw_body, 'base64'), headers: raw_headers });
    if (report !== null) await acceptReport(deps, provider, report, 'webhook');
    return { received: true };
  };

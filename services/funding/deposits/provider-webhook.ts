import { notFound } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { takeReport } from './accept-report.ts';

/**
 * POST /v1/providers/:provider/:environment/webhook. Nobody else is asked on the way, the chain least of all: the
 * provider waits 5 s, and the job that looks at the deposit comes within a second. The environment of the path has
 * chosen this deployment; its keys are what makes a webhook of another one unauthorized here.
 */
export const providerWebhook =
  (
    deps: Pick<Deps, 'pool' | 'relay' | 'logger' | 'onramps'>,
  ): Handler<typeof funding.operations.providerWebhook> =>
  async ({ provider, raw_body, raw_headers }) => {
    const onramp = deps.onramps[provider];
    if (onramp === undefined) throw notFound('provider in this environment');
    const report = onramp.readWebhook({ body: Buffer.from(raw_body, 'base64'), headers: raw_headers });
    if (report !== null) await takeReport(deps, provider, report, 'webhook');
    return { received: true };
  };

import { apiTargets } from './api-requests.ts';
import { chainTargets } from './chain-bytes.ts';
import { clientTargets } from './client-answers.ts';
import { paywallTargets } from './paywall-headers.ts';
import { webhookTargets } from './provider-webhooks.ts';
import { routeTargets } from './route-paths.ts';
import type { Target } from './target.ts';

/** Every parser of foreign bytes. A new parser needs a target here. */
export const allTargets = async (): Promise<Target[]> => [
  ...apiTargets(),
  ...(await paywallTargets()),
  ...clientTargets(),
  ...chainTargets(),
  ...webhookTargets(),
  ...routeTargets(),
];

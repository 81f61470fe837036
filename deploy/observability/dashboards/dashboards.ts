import { CHAIN } from './chain.ts';
import type { Dashboard } from './dashboard.ts';
import { GATEWAY } from './gateway.ts';
import { OBJECTIVES } from './objectives.ts';
import { PAYMENTS } from './payments.ts';
import { QUEUES } from './queues.ts';

/**
 * Grafana's dashboards, declared in a short form that grafana.ts writes out. Queries use only
 * metrics of the catalog and recordings of deploy/alerts.yaml (test/alerts.test.ts checks them).
 */
export const DASHBOARDS: readonly Dashboard[] = [OBJECTIVES, PAYMENTS, CHAIN, QUEUES, GATEWAY];

import type { Records } from '../../../shared/boot.ts';
import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import { type EndUnsignedDeps, endUnsignedPayment } from './end-unsigned-payment.ts';
import { getCaps } from './get-caps.ts';
import { getIntake } from './get-intake.ts';
import { getUnsignedPayment } from './get-unsigned-payment.ts';
import { listBackupRuns } from './list-backup-runs.ts';
import { listFailures } from './list-failures.ts';
import { listReplicas } from './list-replicas.ts';
import { listUndelivered } from './list-undelivered.ts';
import { listUnsignedPayments } from './list-unsigned-payments.ts';
import { redispatchSettlement } from './redispatch-settlement.ts';
import { setPaymentsPaused } from './set-payments-paused.ts';

type Deps = Pick<Records, 'relay'> & EndUnsignedDeps & { caps: HourlyCaps };

/** The operations of this service alone. Those of every service are in shared/operator/. */
export const operatorOperations = (deps: Deps) => ({
  getCaps: getCaps(deps),
  listReplicas: listReplicas(deps),
  listBackupRuns: listBackupRuns(deps),
  listFailures: listFailures(deps),
  listUndelivered: listUndelivered(deps),
  getIntake: getIntake(deps),
  setPaymentsPaused: setPaymentsPaused(deps),
  redispatchSettlement: redispatchSettlement(deps),
  listUnsignedPayments: listUnsignedPayments(deps),
  getUnsignedPayment: getUnsignedPayment(deps),
  endUnsignedPayment: endUnsignedPayment(deps),
});

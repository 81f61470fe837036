import { expect, test } from '@jest/globals';
import { contractList } from './index.ts';
import { isForOperators } from './service.ts';

/**
 * What an operation needs of an operator. `nothing`: it shows states, sums, and what the state of
 * the system chooses, by ids. `ticket`: it shows something about a person whom the operator names.
 * `reason`: it changes something.
 */
const NEEDS: Readonly<Record<string, 'nothing' | 'ticket' | 'reason'>> = {
  // of every service
  listOperatorActions: 'nothing',
  verifyOperatorActions: 'nothing',
  getBacklog: 'nothing',
  listWaiting: 'nothing',
  listUnsent: 'nothing',
  findRecords: 'ticket',
  listAccountRecords: 'ticket',
  listQuarantined: 'nothing',
  findQuarantined: 'nothing',
  decideQuarantined: 'reason',
  // identity
  getAccountStatus: 'ticket',
  findAccounts: 'ticket',
  listAccountStatuses: 'ticket',
  listWaitingMails: 'nothing',
  setFrozen: 'reason',
  setLimitFactor: 'reason',
  // wallet
  countAuthorities: 'nothing',
  findWallets: 'ticket',
  // settlement
  getCaps: 'nothing',
  listReplicas: 'nothing',
  getIntake: 'nothing',
  setPaymentsPaused: 'reason',
  redispatchSettlement: 'reason',
  listUnsignedPayments: 'nothing',
  getUnsignedPayment: 'nothing',
  endUnsignedPayment: 'reason',
  listBackupRuns: 'nothing',
  listFailures: 'nothing',
  listUndelivered: 'nothing',
  // chain-submitter
  getBudgets: 'nothing',
  getCosts: 'nothing',
  getSigning: 'nothing',
  setSigningPaused: 'reason',
  getCosigningLimits: 'ticket',
  setCosigningFactor: 'reason',
  // webhook
  listLateEndpoints: 'nothing',
};

const operations = contractList.flatMap(({ name, internal }) =>
  Object.entries(internal)
    .filter(([, one]) => isForOperators(one))
    .map(([operation, { input }]) => ({ service: name, operation, fields: Object.keys(input.shape) })),
);

test('each operation for operators is classed, and has the field that its class needs', () => {
  const found = operations.map(({ service, operation, fields }) => {
    const needs = fields.includes('reason') ? 'reason' : fields.includes('inspection') ? 'ticket' : 'nothing';
    return [`${service}.${operation}`, needs];
  });
  const declared = operations.map(({ service, operation }) => [`${service}.${operation}`, NEEDS[operation]]);
  expect(found).toEqual(declared);
  const known = new Set(operations.map(({ operation }) => operation));
  expect(Object.keys(NEEDS).filter((operation) => !known.has(operation))).toEqual([]);
});

/** Alarms that only say what another one causes: with it on, they are not sent. */
type Inhibition = { by: string; silences: readonly string[]; equal: readonly string[] };

/** What payments do while they cannot be signed, or the chain cannot be read. */
const WAITING = ['PaymentStuck', 'PaymentNotFinal', 'ConfirmationSlow', 'WorkNotSigned', 'WorkRedispatched'];

export const INHIBITIONS: readonly Inhibition[] = [
  {
    by: 'ChainUnreadable',
    silences: [...WAITING, 'ProviderFailing', 'ExpiryNotProven', 'TransactionsExpire'],
    equal: ['environment'],
  },
  { by: 'SigningPaused', silences: WAITING, equal: ['environment'] },
  { by: 'ProcessAbsent', silences: ['LanesWithoutOwner'], equal: ['environment', 'service_name'] },
  { by: 'DrillFailed', silences: ['DrillOld'], equal: ['environment'] },
  { by: 'RecordUnreadable', silences: ['JobFailing'], equal: ['environment', 'service_name'] },
];

/** The getting-started list: which steps are done, and which comes next. Pure. */

/** What the account has, as far as the list needs it. Money is in micro-units. */
export type Progress = {
  wallets: readonly { balance: string; delegation: { allowance: string; status: string } }[];
  services: number;
  payments: number;
  endpoints: number;
};

const STEPS = ['wallet', 'money', 'allowance', 'service', 'payment', 'webhook'] as const;
export type StepId = (typeof STEPS)[number];
export type Step = {
  id: StepId;
  isDone: boolean;
  /** Whether everything that it needs is done. */
  isOpen: boolean;
};

/** What must be done before a step. */
const NEEDS: Record<StepId, readonly StepId[]> = {
  wallet: [],
  money: ['wallet'],
  allowance: ['wallet'],
  service: [],
  payment: ['money', 'allowance', 'service'],
  webhook: [],
};

/** The steps in their order. */
export const stepsOf = ({ wallets, services, payments, endpoints }: Progress): readonly Step[] => {
  const isPaid = payments > 0;
  const done: Record<StepId, boolean> = {
    wallet: wallets.length > 0,
    // A wallet that has paid may be empty now.
    money: isPaid || wallets.some(({ balance }) => BigInt(balance) > 0n),
    allowance:
      isPaid ||
      wallets.some(({ delegation }) => delegation.status === 'active' && BigInt(delegation.allowance) > 0n),
    service: services > 0,
    payment: isPaid,
    webhook: endpoints > 0,
  };
  return STEPS.map((id) => ({ id, isDone: done[id], isOpen: NEEDS[id].every((need) => done[need]) }));
};

/** The step to take now. Undefined when all are done. */
export const nextOf = (steps: readonly Step[]): StepId | undefined =>
  steps.find(({ isDone, isOpen }) => !isDone && isOpen)?.id;

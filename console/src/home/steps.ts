/** The getting-started list: its steps for each role, which are done, and what comes next. Pure. */

/** What a person wants to do here. */
export const ROLES = ['sell', 'pay', 'agent'] as const;
export type Role = (typeof ROLES)[number];

/** What the account has, as far as the list needs it. Money is in micro-units. */
export type Progress = {
  wallets: readonly { balance: string; delegation: { allowance: string; status: string } }[];
  services: number;
  payments: number;
  agents: number;
  /** Whether a quote came from the vendor's own code. */
  isServed: boolean;
};

/** What is done with one button. */
export type ActionId = 'wallet' | 'money' | 'allowance' | 'service' | 'pay' | 'server' | 'agent';
export type StepId = 'wallet' | 'allowance' | 'service' | 'sale' | 'payment' | 'server' | 'agent';

/** The steps of each role. */
const STEPS: Record<Role, readonly StepId[]> = {
  sell: ['service', 'sale', 'server'],
  pay: ['wallet', 'allowance', 'payment'],
  agent: ['wallet', 'allowance', 'agent'],
};
/** What a step takes, in order. It is done when the last of them is. */
const TAKES: Record<StepId, readonly ActionId[]> = {
  wallet: ['wallet', 'money'],
  allowance: ['wallet', 'money', 'allowance'],
  service: ['service'],
  // The buyer of the first sale is the vendor, with a wallet of test money.
  sale: ['service', 'wallet', 'money', 'allowance', 'pay'],
  payment: ['wallet', 'money', 'allowance', 'pay'],
  server: ['service', 'server'],
  agent: ['wallet', 'agent'],
};

export type TodoStep = {
  id: StepId;
  isDone: boolean;
  /** What its button does now. */
  action: ActionId;
};

const doneActions = ({
  wallets,
  services,
  payments,
  agents,
  isServed,
}: Progress): Record<ActionId, boolean> => {
  const isPaid = payments > 0;
  return {
    wallet: wallets.length > 0,
    // A wallet that has paid may be empty now.
    money: isPaid || wallets.some(({ balance }) => BigInt(balance) > 0n),
    allowance:
      isPaid ||
      wallets.some(({ delegation }) => delegation.status === 'active' && BigInt(delegation.allowance) > 0n),
    service: services > 0,
    pay: isPaid,
    server: isServed,
    agent: agents > 0,
  };
};

/** The steps of a role in their order. */
export const stepsOf = (role: Role, progress: Progress): readonly TodoStep[] => {
  const done = doneActions(progress);
  return STEPS[role].map((id) => {
    const takes = TAKES[id];
    const last = takes.at(-1)!;
    return { id, isDone: done[last], action: takes.find((each) => !done[each]) ?? last };
  });
};

/** The step to take now. Undefined when all are done. */
export const nextOf = (steps: readonly TodoStep[]): StepId | undefined =>
  steps.find(({ isDone }) => !isDone)?.id;

/** The role of an account that has not been asked, as far as what it has shows it. */
export const guessRole = ({ services, agents, wallets }: Progress): Role | null =>
  services > 0 ? 'sell' : agents > 0 ? 'agent' : wallets.length > 0 ? 'pay' : null;

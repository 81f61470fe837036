import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useAction } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import { Button, ErrorNotice, LinkButton, Row, Section, Step, Steps, toast } from '../ui/index.ts';
import type { Wallet } from '../wallet/signing.tsx';
import { CHANGES } from './changes.ts';
import { DemoData } from './demo.tsx';
import { PayButton } from './pay-button.tsx';
import type { CreatedService } from './step-dialogs.tsx';
import { type ActionId, nextOf, type Progress, type Role, stepsOf, type TodoStep } from './steps.ts';
import { ACTION_TEXTS, HOME, ROLE_TEXTS, STEP_TEXTS } from './texts.ts';

/** Loaded when a step is started. */
const StepDialog = lazy(() => import('./step-dialogs.tsx'));

/** 100 USDC. */
const TEST_MONEY = '100000000';

type Shown = 'wallet' | 'allowance' | 'service';
/**
 * The pages of the other actions. Real money comes by a deposit, and the first payment with it is
 * one of a program.
 */
const PAGES: Record<Exclude<ActionId, Shown>, string> = {
  server: '/integrate',
  agent: '/delegates',
  money: '/deposits',
  pay: '/integrate',
};

/**
 * The getting-started list of a role. Each step is done in place, and what is done is read from the
 * API.
 */
export const Checklist = ({
  role,
  progress,
  wallets,
  onChange,
  onHide,
}: {
  role: Role;
  progress: Progress;
  wallets: readonly Wallet[];
  /** Asks for the role again. */
  onChange: () => void;
  onHide: () => void;
}) => {
  const { environment } = useSession();
  const [shown, setShown] = useState<Shown | null>(null);
  const [sold, setSold] = useState<CreatedService | null>(null);
  const isTest = environment === 'test';
  const fund = useAction(
    (client, wallet_id: string) => client.funding.devFund({ wallet_id, amount: TEST_MONEY }),
    { changes: CHANGES, done: () => toast('100 test USDC received.') },
  );
  const steps = stepsOf(role, progress);
  const next = nextOf(steps);
  const wallet = wallets[0];

  return (
    <Section
      title={`${HOME.started}: ${ROLE_TEXTS[role].title.toLowerCase().replace('api', 'API')}`}
      about={`${steps.filter(({ isDone }) => isDone).length} of ${steps.length} done`}
      actions={
        <Row>
          <Button size="small" variant="quiet" onPress={onChange}>
            {HOME.change}
          </Button>
          <Button size="small" variant="quiet" onPress={onHide}>
            {HOME.hide}
          </Button>
        </Row>
      }
    >
      {fund.error !== null && <ErrorNotice error={fund.error} />}
      <Steps>
        {steps.map((step) => (
          <StepLine key={step.id} step={step} isNext={step.id === next}>
            <StepButton
              action={step.action}
              fund={wallet && (() => void fund.run(wallet.wallet_id))}
              isFunding={fund.isBusy}
              onShow={setShown}
            >
              <PayButton role={role} sold={sold} />
            </StepButton>
          </StepLine>
        ))}
      </Steps>
      {isTest && <DemoData wallet={wallet} />}
      {shown !== null && (
        <Suspense>
          <StepDialog
            step={shown}
            wallet={wallet}
            isTest={isTest}
            onClose={() => setShown(null)}
            onWallet={(wallet_id) => isTest && void fund.run(wallet_id)}
            onService={setSold}
          />
        </Suspense>
      )}
    </Section>
  );
};

/** The button of a step: what is left to do of it. */
const StepButton = ({
  action,
  fund,
  isFunding,
  onShow,
  children,
}: {
  action: ActionId;
  /** Puts test money into the wallet. */
  fund: (() => void) | undefined;
  isFunding: boolean;
  onShow: (dialog: Shown) => void;
  /** The button that pays. */
  children: ReactNode;
}) => {
  const isTest = useSession().environment === 'test';
  if (action === 'wallet' || action === 'allowance' || action === 'service')
    return (
      <Button variant="primary" size="small" onPress={() => onShow(action)}>
        {ACTION_TEXTS[action]}
      </Button>
    );
  if (action === 'pay' && isTest) return children;
  if (action === 'money' && isTest)
    return (
      <Button variant="primary" size="small" busy={isFunding && 'Waiting for the chain…'} onPress={fund}>
        {ACTION_TEXTS.money}
      </Button>
    );
  return (
    <Row>
      <LinkButton to={PAGES[action]} size="small" variant="primary">
        {action === 'money' ? 'Add money' : ACTION_TEXTS[action === 'pay' ? 'server' : action]}
      </LinkButton>
      {action === 'server' && (
        <LinkButton to="/protect" size="small">
          {HOME.protect}
        </LinkButton>
      )}
    </Row>
  );
};

const StepLine = ({
  step: { id, isDone },
  isNext,
  children,
}: {
  step: TodoStep;
  isNext: boolean;
  children: ReactNode;
}) => (
  <Step
    title={STEP_TEXTS[id].title}
    about={STEP_TEXTS[id][isDone ? 'done' : 'about']}
    isDone={isDone}
    isNext={isNext}
  >
    {children}
  </Step>
);

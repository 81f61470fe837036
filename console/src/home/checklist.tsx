import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useAction } from '../lib/data.ts';
import { session } from '../session/store.ts';
import { useSession } from '../session/use-session.tsx';
import { Button, ErrorNotice, LinkButton, Notice, Row, Section, toast } from '../ui/index.ts';
import type { Wallet } from '../wallet/signing.tsx';
import type { CreatedService } from './step-dialogs.tsx';
import { nextOf, type Progress, type Step, type StepId, stepsOf } from './steps.ts';
import { HOME, LIVE_MONEY, STEP_TEXTS } from './texts.ts';

/** Loaded when a step is begun. */
const StepDialog = lazy(() => import('./step-dialogs.tsx'));

/** 100 USDC. */
const TEST_MONEY = '100000000';
/** What the demo data takes from the wallet at most, in micro-units. */
const DEMO_COST = 2_000_000n;

type Shown = Exclude<StepId, 'payment' | 'money'> | null;

/** Everything that a payment changes on this page. */
const CHANGES = [
  ['wallets'],
  ['payments'],
  ['transactions'],
  ['declines'],
  ['sales'],
  ['services'],
  ['delegates'],
];

/** A valid access token. A read by the session's own client renews an expired one. */
const freshAccessToken = async (): Promise<string> => {
  await session.get().client.identity.getAccount();
  return session.accessToken() ?? '';
};

/**
 * The getting-started list. Each step is done in place, and what is done is read from the API, so
 * the list is the same on every device.
 */
export const Checklist = ({
  progress,
  wallets,
  onHide,
}: {
  progress: Progress;
  wallets: readonly Wallet[];
  onHide: () => void;
}) => {
  const { environment } = useSession();
  const [shown, setShown] = useState<Shown>(null);
  const [sold, setSold] = useState<CreatedService | null>(null);
  const close = () => setShown(null);
  const isTest = environment === 'test';
  const fund = useAction(
    (client, wallet_id: string) => client.funding.devFund({ wallet_id, amount: TEST_MONEY }),
    { changes: CHANGES, done: () => toast('The test money has arrived.') },
  );
  const steps = stepsOf(progress);
  const next = nextOf(steps);
  const wallet = wallets[0];
  const start = (step: NonNullable<Shown>) => (
    <Button variant={step === next ? 'primary' : 'plain'} size="small" onPress={() => setShown(step)}>
      {STEP_TEXTS[step].action}
    </Button>
  );
  const actions: Record<StepId, ReactNode> = {
    wallet: start('wallet'),
    money: isTest ? (
      <Button
        variant={next === 'money' ? 'primary' : 'plain'}
        size="small"
        busy={fund.isBusy && 'Waiting for the chain…'}
        onPress={() => void fund.run(wallet!.wallet_id)}
      >
        {STEP_TEXTS.money.action}
      </Button>
    ) : (
      <LinkButton to="/deposits" size="small" variant={next === 'money' ? 'primary' : 'plain'}>
        {LIVE_MONEY.action}
      </LinkButton>
    ),
    allowance: start('allowance'),
    service: start('service'),
    payment: <FirstPayment isNext={next === 'payment'} sold={sold} isTest={isTest} />,
    webhook: start('webhook'),
  };
  return (
    <Section
      title={HOME.started}
      about={`${steps.filter(({ isDone }) => isDone).length} of ${steps.length} steps are done.`}
      actions={
        <Button size="small" variant="quiet" onPress={onHide}>
          {HOME.hide}
        </Button>
      }
    >
      {fund.error !== null && <ErrorNotice error={fund.error} />}
      <ol className="steps">
        {steps.map((step) => (
          <StepLine key={step.id} step={step} isNext={step.id === next} isTest={isTest}>
            {actions[step.id]}
          </StepLine>
        ))}
      </ol>
      {isTest && <DemoData wallet={wallet} />}
      {shown !== null && (
        <Suspense>
          <StepDialog
            step={shown}
            wallet={wallet}
            isTest={isTest}
            onClose={close}
            onWallet={(wallet_id) => isTest && void fund.run(wallet_id)}
            onService={setSold}
          />
        </Suspense>
      )}
    </Section>
  );
};

const StepLine = ({
  step: { id, isDone, isOpen },
  isNext,
  isTest,
  children,
}: {
  step: Step;
  isNext: boolean;
  isTest: boolean;
  children: ReactNode;
}) => {
  const texts = id === 'money' && !isTest ? LIVE_MONEY : STEP_TEXTS[id];
  return (
    <li className="step" data-done={isDone || undefined} data-next={isNext || undefined}>
      <div className="step-text">
        <h3>
          {texts.title}
          {isDone && <span className="visually-hidden"> (done)</span>}
        </h3>
        <p className="quiet">{isDone ? texts.done : texts.about}</p>
      </div>
      {!isDone && isOpen && children}
    </li>
  );
};

/** Pays the service that was created on this page, whose key is still known here. */
const FirstPayment = ({
  isNext,
  sold,
  isTest,
}: {
  isNext: boolean;
  sold: CreatedService | null;
  isTest: boolean;
}) => {
  const [doing, setDoing] = useState('');
  const key = sold !== null && 'api_key' in sold ? sold.api_key : null;
  const pay = useAction(
    async () => {
      const { payOnce } = await import('./first-payment.ts');
      await payOnce({
        service: sold!,
        serviceKey: key!,
        accessToken: freshAccessToken,
        onStep: setDoing,
      });
    },
    { changes: CHANGES, done: () => toast('Paid and delivered. The payment is listed below.') },
  );
  const variant = isNext ? 'primary' : 'plain';
  if (!isTest || key === null)
    return (
      <LinkButton to={isTest ? '/try' : '/integrate'} size="small" variant={variant}>
        {isTest ? 'Try it' : 'Integrate'}
      </LinkButton>
    );
  return (
    <>
      <Button
        variant={variant}
        size="small"
        busy={pay.isBusy && doing}
        onPress={() => void pay.run(undefined)}
      >
        {STEP_TEXTS.payment.action}
      </Button>
      {pay.error !== null && <ErrorNotice error={pay.error} />}
    </>
  );
};

/** Fills the account with services, an agent and payments, so that every page has content. */
const DemoData = ({ wallet }: { wallet: Wallet | undefined }) => {
  const [progress, setProgress] = useState('');
  const fill = useAction(
    async (client, wallet_id: string) => {
      const { makeDemoData } = await import('./demo-data.ts');
      await makeDemoData(client, wallet_id, (done, all) => setProgress(`${done} of ${all} done…`));
    },
    { changes: CHANGES, done: () => toast('The demo data is there.') },
  );
  const canPay =
    wallet !== undefined &&
    BigInt(wallet.balance) >= DEMO_COST &&
    BigInt(wallet.delegation.allowance) >= DEMO_COST;
  return (
    <div className="demo">
      <p className="quiet">
        {HOME.demoAbout}
        {!canPay && ' It needs a wallet with test money that may be spent: the first three steps.'}
      </p>
      <Row>
        <Button
          size="small"
          isDisabled={!canPay}
          busy={fill.isBusy && progress}
          onPress={() => void fill.run(wallet!.wallet_id)}
        >
          {HOME.demo}
        </Button>
      </Row>
      {fill.error !== null && <ErrorNotice error={fill.error} />}
      {fill.isBusy && (
        <Notice>Stay on this page until it is done. Each payment is a real one on the test chain.</Notice>
      )}
    </div>
  );
};

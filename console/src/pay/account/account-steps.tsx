import { type ReactNode, useState } from 'react';
import { displayUsdc } from '../../../../sdk/src/generated/usdc.ts';
import { useAction, useItems, useRead } from '../../api/data.ts';
import { useSession } from '../../api/use-session.tsx';
import { keepOrder } from '../../session/waiting-order.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading, Row, Stack } from '../../ui/layout.tsx';
import { QrCode } from '../../ui/qr.tsx';
import { Copyable } from '../../ui/show.tsx';
import { Step, Steps } from '../../ui/steps.tsx';
import { toast } from '../../ui/toast.tsx';
import { useBrowserWallets } from '../../wallet/browser-wallets.ts';
import { MakeDialog } from '../../wallet/create-wallet.tsx';
import { LinkDialog } from '../../wallet/link.tsx';
import { nameOf } from '../../wallet/select-wallet.tsx';
import type { Wallet } from '../../wallet/signing.tsx';
import { PayNow } from '../pay-now.tsx';
import type { Payable } from '../payable.ts';
import { ACCOUNT, STEPS } from '../texts.ts';
import { nextStep, payerOf, STEP_NAMES, type StepName } from './account-step.ts';

/** How often a wallet is read that waits for money, while the page is visible. */
const EVERY_MS = 4000;
/** 100 USDC. */
const TEST_MONEY = '100000000';

const MakeWallet = () => {
  const [shown, setShown] = useState<'make' | 'link' | null>(null);
  const canLink = useBrowserWallets().length > 0;
  const close = () => setShown(null);
  return (
    <Row>
      <Button variant="primary" onPress={() => setShown('make')}>
        {ACCOUNT.create}
      </Button>
      {canLink && <Button onPress={() => setShown('link')}>{ACCOUNT.link}</Button>}
      {shown === 'make' && <MakeDialog onClose={close} />}
      {shown === 'link' && <LinkDialog onClose={close} />}
    </Row>
  );
};

const AddMoney = ({ wallet: { wallet_id, address } }: { wallet: Wallet }) => {
  const { environment } = useSession();
  const isTest = environment === 'test';
  const fund = useAction((client) => client.funding.devFund({ wallet_id, amount: TEST_MONEY }), {
    changes: [['wallets']],
    done: () => toast(ACCOUNT.testMoneyDone),
  });
  return (
    <Stack>
      {fund.error !== null && <ErrorNotice error={fund.error} />}
      <Row>
        {isTest && (
          <Button
            variant="primary"
            busy={fund.isBusy && ACCOUNT.waiting}
            onPress={() => void fund.run(undefined)}
          >
            {ACCOUNT.testMoney}
          </Button>
        )}
        <a
          className="button"
          data-variant={isTest ? 'plain' : 'primary'}
          data-size="normal"
          href={`/console/deposits?wallet=${wallet_id}`}
          target="_blank"
          rel="noreferrer"
          onClick={() => keepOrder(environment, 'money')}
        >
          {ACCOUNT.buy}
        </a>
      </Row>
      <p>{isTest ? ACCOUNT.sendTest : ACCOUNT.send}</p>
      <QrCode text={address} label={ACCOUNT.qr} />
      <Copyable block text={address} label="address of your wallet" />
    </Stack>
  );
};

const aboutOf = (name: StepName, isDone: boolean, wallet: Wallet | null, price: bigint): string => {
  if (name === 'pay') return STEPS.pay.about;
  if (name === 'wallet')
    return isDone && wallet !== null ? STEPS.wallet.done(nameOf(wallet)) : STEPS.wallet.about;
  const balance = BigInt(wallet?.balance ?? '0');
  return isDone ? STEPS.money.done(displayUsdc(balance)) : STEPS.money.about(displayUsdc(price - balance));
};

/** What an account has to do before it can pay. Its order waits, whatever a step takes. */
const Unready = ({
  wallet,
  next,
  payable,
  pay,
}: {
  wallet: Wallet | null;
  next: StepName;
  payable: Payable;
  pay: ReactNode;
}) => {
  const price = BigInt(payable.claims.quote_amount);
  const place = STEP_NAMES.indexOf(next);
  const doing: Record<StepName, ReactNode> = {
    wallet: <MakeWallet />,
    money: wallet && <AddMoney wallet={wallet} />,
    pay,
  };
  return (
    <Steps>
      {STEP_NAMES.map((name, at) => (
        <Step
          key={name}
          title={STEPS[name].title}
          about={aboutOf(name, at < place, wallet, price)}
          isDone={at < place}
          isNext={name === next}
        >
          {doing[name]}
        </Step>
      ))}
    </Steps>
  );
};

/** Pays at once with an account that can, and leads any other account there in three steps. */
export const AccountSteps = ({ payable }: { payable: Payable }) => {
  const settings = useRead(['settings'], (client, options) => client.identity.getSettings({}, options));
  const [isPoor, setPoor] = useState(false);
  const wallets = useItems(
    ['wallets', 'pay'],
    (client, cursor, options) => client.wallet.list({ cursor, limit: '100' }, options),
    isPoor ? { every: EVERY_MS } : {},
  );
  const [wasReady, setWasReady] = useState<boolean | null>(null);
  const error = wallets.error ?? settings.error;
  if (error !== null) return <ErrorNotice error={error} retry={wallets.again} />;
  if (wallets.isPending || settings.data === undefined) return <Loading>{ACCOUNT.loading}</Loading>;
  const wallet = payerOf(wallets.data, settings.data.default_wallet_id);
  const next = nextStep(wallet, BigInt(payable.claims.quote_amount));
  if (isPoor !== (next === 'money')) setPoor(next === 'money');
  if (wasReady === null) setWasReady(next === 'pay');
  const pay = wallet && <PayNow key={wallet.wallet_id} wallet={wallet} payable={payable} />;
  if (next !== 'pay' || wasReady === false)
    return <Unready wallet={wallet} next={next} payable={payable} pay={pay} />;
  return (
    <Stack>
      {pay}
      <p className="quiet">{ACCOUNT.from(nameOf(wallet!), displayUsdc(wallet!.balance))}</p>
    </Stack>
  );
};

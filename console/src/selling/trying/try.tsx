import { type ReactNode, useRef, useState } from 'react';
import { session } from '../../api/store.ts';
import { useSession } from '../../api/use-session.tsx';
import { ChooseService, type Service, useOwnServices } from '../../payments/select-service.tsx';
import { Button, Columns, Money, Notice, Page, Row, Section, Stack } from '../../ui/index.ts';
import { createTrial, type Step, type Trial } from './trial.ts';
import { type PayBy, Payer, ServiceKey } from './try-setup.tsx';
import { STEPS, TakenStep } from './try-steps.tsx';

/**
 * The 402 exchange on the running system, with the account's own service. The page is both buyer
 * and vendor.
 */
const TryPage = () => {
  const { environment } = useSession();
  const own = useOwnServices();
  return (
    <Page title="Try it" about="A paid call from 402 to delivery, with every request and response.">
      {environment === 'live' ? (
        <Notice tone="wait" title="Test mode only">
          Step 3 makes a payment. Switch to test mode above: no real money.
        </Notice>
      ) : (
        <>
          <Notice>
            This page plays buyer and vendor: the real SDK runs in your browser and calls the real API.
          </Notice>
          <Section title="Before you start">
            <ChooseService {...own} />
          </Section>
          {own.service !== undefined && <Exchange key={own.service.service_id} service={own.service} />}
        </>
      )}
    </Page>
  );
};
export default TryPage;

type Next = (typeof STEPS)[number] | undefined;
const headingOf = (next: Next, hasFailed: boolean): string => {
  if (next === undefined) return 'Done';
  return hasFailed ? 'Repeat the step' : next.title;
};
const aboutOf = (next: Next, hasFailed: boolean): ReactNode => {
  if (next === undefined) return 'Paid once, delivered once. The payment is under Sales.';
  return hasFailed ? 'Fix the problem above and repeat the step. Nothing is paid twice.' : next.about;
};

/** A valid access token. A read by the session's own client renews an expired one. */
const freshAccessToken = async (): Promise<string> => {
  await session.get().client.identity.getAccount();
  return session.accessToken() ?? '';
};

/** The vendor's key, and who pays. */
const Participants = ({
  service,
  serviceKey,
  onServiceKey,
  by,
  onBy,
  delegateKey,
  onDelegateKey,
  isVendorFixed,
  isBuyerFixed,
}: {
  service: Service;
  serviceKey: string;
  onServiceKey: (key: string) => void;
  by: PayBy;
  onBy: (by: PayBy) => void;
  delegateKey: string;
  onDelegateKey: (key: string) => void;
  isVendorFixed: boolean;
  isBuyerFixed: boolean;
}) => (
  <Section
    title="Set up"
    about={
      <>
        The vendor sells one report for <Money micro={service.price} />.
      </>
    }
  >
    <Columns>
      <Stack>
        <h3>The vendor</h3>
        <ServiceKey service={service} value={serviceKey} onChange={onServiceKey} isDisabled={isVendorFixed} />
      </Stack>
      <Stack>
        <h3>The buyer</h3>
        <Payer
          by={by}
          onBy={onBy}
          delegateKey={delegateKey}
          onDelegateKey={onDelegateKey}
          price={BigInt(service.price)}
          payTo={service.payout_address}
          isDisabled={isBuyerFixed}
        />
      </Stack>
    </Columns>
  </Section>
);

type Busy = 'one' | 'all' | null;

/** Runs the next step, or all remaining ones, or begins again. */
const StepButtons = ({
  next,
  taken,
  done,
  busy,
  isReady,
  onGo,
  onStartAgain,
}: {
  next: Next;
  taken: number;
  done: number;
  busy: Busy;
  isReady: boolean;
  onGo: (all: boolean) => void;
  onStartAgain: () => void;
}) => (
  <Row>
    {next !== undefined && (
      <>
        <Button
          variant="primary"
          isDisabled={!isReady || busy === 'all'}
          busy={busy === 'one' && 'Running the step…'}
          onPress={() => onGo(false)}
        >
          {taken > done ? 'Repeat the step' : next.next}
        </Button>
        <Button
          isDisabled={!isReady || busy === 'one'}
          busy={busy === 'all' && 'Running all steps…'}
          onPress={() => onGo(true)}
        >
          {done === 0 ? 'Run all steps' : 'Run the remaining steps'}
        </Button>
      </>
    )}
    {taken > 0 && (
      <Button variant="quiet" isDisabled={busy !== null} onPress={onStartAgain}>
        Start again
      </Button>
    )}
  </Row>
);

const Exchange = ({ service }: { service: Service }) => {
  const [serviceKey, setServiceKey] = useState('');
  const [by, setBy] = useState<PayBy>('account');
  const [delegateKey, setDelegateKey] = useState('');
  const [taken, setTaken] = useState<readonly Step[]>([]);
  const [busy, setBusy] = useState<Busy>(null);
  const [secrets, setSecrets] = useState<ReadonlyMap<string, string>>(new Map());
  const trial = useRef<Trial | null>(null);

  const key = serviceKey.trim();
  const isReady = /^vendor_test_./.test(key) && (by === 'account' || /^dk_test_./.test(delegateKey.trim()));
  const done = taken.filter(({ problem }) => problem === null).length;
  const next = STEPS[done];

  const keepSecret = (secret: string, name: string) =>
    setSecrets((known) => new Map(known).set(secret, name));
  // Read when it pays, because the user may select another payer until then.
  const payer = useRef<() => Promise<string>>(freshAccessToken);
  payer.current = async () => {
    const [token, name] =
      by === 'delegate' ? [delegateKey.trim(), 'DELEGATE_KEY'] : [await freshAccessToken(), 'ACCESS_TOKEN'];
    keepSecret(token, name);
    return token;
  };
  const begin = (): Trial => {
    keepSecret(key, 'SERVICE_KEY');
    return createTrial({
      baseUrl: location.origin,
      environment: 'test',
      service,
      serviceKey: key,
      payer: () => payer.current(),
      onSecret: keepSecret,
    });
  };
  /** Runs the next step, or all remaining steps. A failed step can run again. */
  const go = async (all: boolean) => {
    setBusy(all ? 'all' : 'one');
    // The key may change until the first step has succeeded.
    if (done === 0 || trial.current === null) trial.current = begin();
    const steps = trial.current;
    for (let at = done; at < (all ? STEPS.length : done + 1); at += 1) {
      const step = await steps[STEPS[at]!.run]();
      setTaken((before) => [...before.slice(0, at), step]);
      if (step.problem !== null) break;
    }
    setBusy(null);
  };
  const startAgain = () => {
    trial.current = null;
    setTaken([]);
    setSecrets(new Map());
  };

  const hasFailed = taken.length > done;
  const isPaid = done > STEPS.findIndex(({ run }) => run === 'settle');
  return (
    <Stack>
      <Participants
        service={service}
        serviceKey={serviceKey}
        onServiceKey={setServiceKey}
        by={by}
        onBy={setBy}
        delegateKey={delegateKey}
        onDelegateKey={setDelegateKey}
        isVendorFixed={done > 0 || busy !== null}
        isBuyerFixed={isPaid || busy !== null}
      />
      {taken.map((step, index) => (
        <TakenStep key={STEPS[index]!.run} step={step} of={STEPS[index]!} secrets={secrets} />
      ))}
      <Section title={headingOf(next, hasFailed)} about={aboutOf(next, hasFailed)}>
        <Stack>
          {!isReady && <p className="quiet">Enter a service key and choose who pays.</p>}
          <StepButtons
            next={next}
            taken={taken.length}
            done={done}
            busy={busy}
            isReady={isReady}
            onGo={(all) => void go(all)}
            onStartAgain={startAgain}
          />
        </Stack>
      </Section>
    </Stack>
  );
};

import { type FormEvent, useState } from 'react';
import { NotFoundError, type Output } from '../../../sdk/src/main.ts';
import { useAction } from '../api/data.ts';
import { chooseEnvironment } from '../api/store.ts';
import { useSession } from '../api/use-session.tsx';
import {
  Button,
  ErrorNotice,
  Notice,
  Page,
  Properties,
  Row,
  Section,
  Stack,
  TextField,
  Time,
} from '../ui/index.ts';

type Asks = Output<'identity.readDeviceSignIn'> & { user_code: string };
type Decided = Output<'identity.decideDeviceSignIn'>['status'];

/** What a person types as a code, in its one spelling. Null if it is none. */
const asUserCode = (text: string): string | null => {
  const letters = text.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(letters) ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
};

/**
 * The page where a person confirms the sign-in of a command line or a device (RFC 8628). The code
 * of a link is not filled in. Codes are phished by links, so the person must read it on the device
 * (RFC 8628, 5.4).
 */
const DevicePage = () => {
  const [asks, setAsks] = useState<Asks | null>(null);
  const [decided, setDecided] = useState<Decided | null>(null);
  return (
    <Page title="Sign in a device" about="For the CLI and other programs without a browser.">
      {decided !== null ? (
        <Outcome decided={decided} />
      ) : asks === null ? (
        <EnterCode onFound={setAsks} />
      ) : (
        <Decide asks={asks} onDecided={setDecided} onBack={() => setAsks(null)} />
      )}
    </Page>
  );
};
export default DevicePage;

const OtherEnvironment = ({ wanted }: { wanted: string | null }) => {
  const { environment } = useSession();
  if ((wanted !== 'test' && wanted !== 'live') || wanted === environment) return null;
  return (
    <Notice tone="wait" title={`The device wants to sign in to ${wanted}`}>
      <p>You are signed in to {environment}, where this code is unknown.</p>
      <Button size="small" onPress={() => void chooseEnvironment(wanted)}>
        Switch to {wanted}
      </Button>
    </Notice>
  );
};

const EnterCode = ({ onFound }: { onFound: (asks: Asks) => void }) => {
  const { environment } = useSession();
  const query = new URLSearchParams(location.search);
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const read = useAction(
    async (client, user_code: string) => ({
      ...(await client.identity.readDeviceSignIn({ user_code })),
      user_code,
    }),
    { done: onFound },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const code = asUserCode(text);
    setWrong(code === null);
    if (code !== null) void read.run(code);
  };
  return (
    <Section
      title="Enter the code"
      about="Type the code shown on your own device. If somebody sent you a code or a link, close this page."
    >
      <form onSubmit={submit}>
        <Stack>
          <OtherEnvironment wanted={query.get('environment')} />
          <TextField
            label="Code"
            hint="Eight letters, like WDJB-MJHT."
            value={text}
            onChange={(next) => {
              setText(next);
              setWrong(false);
            }}
            error={wrong ? 'A code has eight letters and no vowels.' : null}
            autoComplete="off"
            maxLength={16}
            isRequired
          />
          {read.error instanceof NotFoundError ? (
            <Notice tone="bad" title="This code does not work">
              It is not known in {environment}, was already used, or is older than 10 minutes. Start again on
              the device.
            </Notice>
          ) : (
            read.error !== null && <ErrorNotice error={read.error} />
          )}
          <Row>
            <Button type="submit" variant="primary" busy={read.isBusy && 'Checking the code…'}>
              Continue
            </Button>
          </Row>
        </Stack>
      </form>
    </Section>
  );
};

const Decide = ({
  asks: { user_code, client_name, address, agent, created_at, expires_at },
  onDecided,
  onBack,
}: {
  asks: Asks;
  onDecided: (decided: Decided) => void;
  onBack: () => void;
}) => {
  const { environment, account } = useSession();
  const decide = useAction((client, allow: boolean) =>
    client.identity.decideDeviceSignIn({ user_code, allow }),
  );
  const act = async (allow: boolean) => {
    const answer = await decide.run(allow);
    if (answer !== undefined) onDecided(answer.status);
  };
  return (
    <Section title="Sign in this device?">
      <Stack>
        <Properties
          of={[
            ['Device', `“${client_name}”`],
            ['Code', <code key="code">{user_code}</code>],
            ['Requested', <Time key="asked" at={created_at} />],
            ['From', `${address ?? 'an unknown network'}, ${agent ?? 'an unknown program'}`],
            ['Expires', <Time key="until" at={expires_at} />],
            ['Account', account?.email],
            ['Environment', environment],
          ]}
        />
        <Notice tone="wait" title="Did you start this just now?">
          The device will be able to read your account, pay within its limits, and create agents that spend at
          most 25 USDC a day together. If somebody sent you this code or a link, or if you do not recognise
          the network, deny it. The device chose its own name, so the name proves nothing.
        </Notice>
        {decide.error !== null && <ErrorNotice error={decide.error} />}
        <Row>
          <Button busy={decide.isBusy && 'One moment…'} onPress={() => void act(true)}>
            Allow
          </Button>
          <Button variant="primary" isDisabled={decide.isBusy} onPress={() => void act(false)}>
            Deny
          </Button>
          <Button variant="quiet" isDisabled={decide.isBusy} onPress={onBack}>
            Another code
          </Button>
        </Row>
      </Stack>
    </Section>
  );
};

const Outcome = ({ decided }: { decided: Decided }) =>
  decided === 'allowed' ? (
    <Notice tone="good" title="Device signed in">
      Go back to your terminal. You can revoke the session under Account, and we confirm it by e-mail.
    </Notice>
  ) : (
    <Notice title="Sign-in denied">The device has no access to your account. You can close this page.</Notice>
  );

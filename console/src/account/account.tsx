import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { useItems, useRead } from '../api/data.ts';
import { session } from '../api/store.ts';
import {
  Badge,
  Button,
  Columns,
  Copyable,
  ErrorNotice,
  Loading,
  Page,
  Properties,
  Section,
  Stack,
  Time,
} from '../ui/index.ts';
import { CloseAccount } from './close-account.tsx';
import { ExportData } from './export-data.tsx';
import { Limits } from './limits.tsx';
import { Passkeys } from './passkeys.tsx';
import { SecurityEvents } from './security-events.tsx';
import { Settings } from './settings.tsx';
import { SignIns } from './sign-ins.tsx';

/** The account: its data, its sign-ins, and its notifications. */
const AccountPage = () => {
  const account = useRead(['account'], (client, options) => client.identity.getAccount({}, options));
  return (
    <Page title="Account" about="Your profile, limits, passkeys, sessions and data.">
      <Columns>
        <Section title="You">
          {account.isPending && <Loading>Loading your account…</Loading>}
          {account.error !== null && <ErrorNotice error={account.error} retry={account.again} />}
          {account.data !== undefined && <You account={account.data} />}
        </Section>
        <Settings />
        <Limits />
      </Columns>
      <Passkeys
        passkeys={useItems(['passkeys'], (client, cursor, options) =>
          client.identity.listPasskeys({ cursor }, options),
        )}
      />
      <SignIns
        sessions={useItems(['sessions'], (client, cursor, options) =>
          client.identity.listSessions({ cursor }, options),
        )}
      />
      <SecurityEvents />
      <AccessToken />
      <ExportData />
      <CloseAccount />
    </Page>
  );
};
export default AccountPage;

const You = ({ account }: { account: Output<'identity.getAccount'> }) => (
  <Properties
    of={[
      ['E-mail', account.email],
      ['Name', account.display_name ?? <span className="quiet">none</span>],
      ['Account', <Copyable key="id" text={account.account_id} label="account id" />],
      [
        'Environment',
        <Badge
          key="environment"
          state={session.get().environment}
          tone={session.get().environment === 'test' ? 'wait' : 'bad'}
        />,
      ],
      ['Created', <Time key="since" at={account.created_at} date />],
    ]}
  />
);

/** For manual calls of the API. Whoever has the token can act as the account until it expires. */
const AccessToken = () => {
  const [token, setToken] = useState<string | null>(null);
  return (
    <Section
      title="Access token"
      about="For manual API calls. It acts as you for a few minutes. Send it as “Authorization: Bearer …”, and keep it out of files and chats."
    >
      {token === null ? (
        <Button onPress={() => setToken(session.accessToken())}>Show access token</Button>
      ) : (
        <Stack>
          <Copyable block text={token} label="access token" />
          <div>
            <Button size="small" onPress={() => setToken(null)}>
              Hide
            </Button>
          </div>
        </Stack>
      )}
    </Section>
  );
};

import { useWaitingCount } from './consumer/waiting-approvals.ts';
import { useSession } from './session/use-session.tsx';
import { Columns, LinkButton, Notice, Page, Row, Section, Stack } from './ui/index.ts';

/** The page after a sign-in: the two things that an account can do. */
const HomePage = () => {
  const { account } = useSession();
  const waiting = useWaitingCount();
  return (
    <Page title="Welcome" about={`Signed in as ${account?.email ?? ''}.`}>
      {waiting > 0 && (
        <Notice
          tone="wait"
          title={
            waiting === 1 ? 'A payment waits for your approval' : `${waiting} payments wait for your approval`
          }
        >
          <LinkButton to="/approvals" variant="primary" size="small">
            Approve or deny
          </LinkButton>
        </Notice>
      )}
      <Columns>
        <Section title="Pay for APIs">
          <Stack>
            <p>
              Link or create a wallet, set how much may be spent, and give each program a separate key with
              limits. Your private key stays with you.
            </p>
            <Row>
              <LinkButton to="/wallet" variant="primary">
                To your wallet
              </LinkButton>
              <LinkButton to="/delegates">Delegates</LinkButton>
            </Row>
          </Stack>
        </Section>
        <Section title="Sell an API">
          <Stack>
            <p>
              Name a service, its price and its payout address. A few lines in front of your route request the
              payment and admit callers that have paid.
            </p>
            <Row>
              <LinkButton to="/services" variant="primary">
                To your services
              </LinkButton>
              <LinkButton to="/integrate">Integrate</LinkButton>
            </Row>
          </Stack>
        </Section>
      </Columns>
    </Page>
  );
};
export default HomePage;

import { Empty, Page, Section } from '../ui/index.ts';

const WithdrawalsPage = () => (
  <Page title="Withdrawals" about="Send USDC to another address.">
    <Section title="Withdrawals">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default WithdrawalsPage;

import { Empty, Page, Section } from '../ui/index.ts';

const DepositsPage = () => (
  <Page title="Deposits" about="Buy USDC with a bank or card.">
    <Section title="Deposits">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default DepositsPage;

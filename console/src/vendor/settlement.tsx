import { Empty, Page, Section } from '../ui/index.ts';

const SettlementPage = () => (
  <Page title="Settlement" about="One payment that you received.">
    <Section title="Settlement">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default SettlementPage;

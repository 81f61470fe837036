import { Empty, Page, Section } from '../ui/index.ts';

const ReceiptPage = () => (
  <Page title="Receipt" about="One payment, from quote to redeem.">
    <Section title="Receipt">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default ReceiptPage;

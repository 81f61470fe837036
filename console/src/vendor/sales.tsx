import { Empty, Page, Section } from '../ui/index.ts';

const SalesPage = () => (
  <Page title="Sales" about="Quotes, settlements and redeems as they happen.">
    <Section title="Sales">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default SalesPage;

import { Empty, Page, Section } from '../ui/index.ts';

const SnippetsPage = () => (
  <Page title="Integrate" about="Code for your own service.">
    <Section title="Integrate">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default SnippetsPage;

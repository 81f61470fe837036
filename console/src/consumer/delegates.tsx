import { Empty, Page, Section } from '../ui/index.ts';

const DelegatesPage = () => (
  <Page title="Delegates" about="Keys for programs that pay for you, within limits.">
    <Section title="Delegates">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default DelegatesPage;

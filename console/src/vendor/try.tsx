import { Empty, Page, Section } from '../ui/index.ts';

const TryPage = () => (
  <Page title="Try it" about="The 402 exchange, step by step.">
    <Section title="Try it">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default TryPage;

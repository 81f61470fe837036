import { Empty, Page, Section } from '../ui/index.ts';

const ServicePage = () => (
  <Page title="Service" about="One service with its keys.">
    <Section title="Service">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default ServicePage;

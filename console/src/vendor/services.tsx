import { Empty, Page, Section } from '../ui/index.ts';

const ServicesPage = () => (
  <Page title="Services" about="What you sell, and the keys that sell it.">
    <Section title="Services">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default ServicesPage;

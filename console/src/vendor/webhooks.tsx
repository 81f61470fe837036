import { Empty, Page, Section } from '../ui/index.ts';

const WebhooksPage = () => (
  <Page title="Webhooks" about="Where events are sent, and what was delivered.">
    <Section title="Webhooks">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default WebhooksPage;

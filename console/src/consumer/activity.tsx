import { Empty, Page, Section } from '../ui/index.ts';

const ActivityPage = () => (
  <Page title="Activity" about="What moved, and what it was for.">
    <Section title="Activity">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default ActivityPage;

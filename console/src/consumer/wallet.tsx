import { Empty, Page, Section } from '../ui/index.ts';

const WalletPage = () => (
  <Page title="Wallet" about="Your money and what the platform may spend of it.">
    <Section title="Wallet">
      <Empty title="This page is not written yet" />
    </Section>
  </Page>
);
export default WalletPage;

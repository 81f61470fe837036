import type { StepId } from './steps.ts';

/** The words of the home page. */

export const STEP_TEXTS: Record<StepId, { title: string; about: string; done: string; action: string }> = {
  wallet: {
    title: 'Make a wallet',
    about: 'It holds your USDC. Its key is created in this browser, and only you can open it.',
    done: 'You have a wallet.',
    action: 'Create a wallet',
  },
  money: {
    title: 'Get test money',
    about: 'Test USDC is free and has no value.',
    done: 'Your wallet has money.',
    action: 'Get 100 USDC',
  },
  allowance: {
    title: 'Allow spending',
    about: 'You sign once how much payments may take. You can change or revoke it at any time.',
    done: 'Payments can be made within your allowance.',
    action: 'Allow 50 USDC',
  },
  service: {
    title: 'Create your first service',
    about: 'A service is an API that you sell: a name, a price of a call, and an address that is paid.',
    done: 'You sell a service.',
    action: 'Create a service',
  },
  payment: {
    title: 'Make the first payment',
    about: 'This page calls your service as a buyer would: it gets a quote, pays it, and gets the delivery.',
    done: 'A payment was made and recorded on chain.',
    action: 'Pay',
  },
  webhook: {
    title: 'Get your first webhook',
    about:
      'Your server learns of each payment by a signed request. “quittance listen” forwards it to your computer.',
    done: 'An endpoint gets your events.',
    action: 'New endpoint',
  },
};

/** In the live environment money comes by a deposit. */
export const LIVE_MONEY = {
  title: 'Deposit money',
  about: 'Send USDC to your wallet, or buy it by bank transfer or card.',
  done: 'Your wallet has money.',
  action: 'Deposit',
};

export const HOME = {
  welcome: 'Welcome',
  home: 'Home',
  started: 'Getting started',
  hide: 'Hide this list',
  show: 'Show getting started',
  demo: 'Fill with demo data',
  demoAbout:
    'Two services, an agent with limits, and a dozen payments between them. It uses about 1 USDC of test money.',
};

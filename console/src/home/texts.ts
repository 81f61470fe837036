import type { ActionId, Role, StepId } from './steps.ts';

/** The words of the home page. */

export const ROLE_TEXTS: Record<Role, { title: string; about: string }> = {
  sell: { title: 'Sell an API', about: 'Put a price on a route and get paid per call.' },
  pay: { title: 'Pay for APIs', about: 'Pay per call from a wallet that only you control.' },
  agent: { title: 'Give an agent a budget', about: 'A key with limits per payment, per day and in total.' },
};

export const STEP_TEXTS: Record<StepId, { title: string; about: string; done: string }> = {
  wallet: {
    title: 'Create a wallet',
    about: 'It holds your USDC. The key is created in this browser and only you can use it.',
    done: 'Your wallet has money.',
  },
  allowance: {
    title: 'Set a spending limit',
    about: 'Sign once to set how much payments may use. You can change or revoke it any time.',
    done: 'Payments can use your wallet up to the limit.',
  },
  service: {
    title: 'Create a service',
    about: 'A service is an API you sell: a name, a price per call and a payout address.',
    done: 'You have a service to sell.',
  },
  sale: {
    title: 'Make a test sale',
    about: 'Buy one call of your service yourself, with a test wallet: quote, payment, delivery.',
    done: 'Your first sale is recorded on chain.',
  },
  payment: {
    title: 'Make a payment',
    about: 'Buy one call of a demo API: quote, payment, delivery.',
    done: 'Your first payment is recorded on chain.',
  },
  server: {
    title: 'Put it in your server',
    about:
      'Copy the code, or put a gate before an API that stays as it is. Done when the first quote is sent.',
    done: 'Your server quotes prices.',
  },
  agent: {
    title: 'Create an agent',
    about: 'Its key pays within the limits you set. You can pause or revoke it any time.',
    done: 'Your agent has a budget.',
  },
};

/** The labels of the buttons in the test environment. */
export const ACTION_TEXTS: Record<ActionId, string> = {
  wallet: 'Create a wallet',
  money: 'Get 100 test USDC',
  allowance: 'Allow 50 USDC',
  service: 'Create a service',
  pay: 'Pay',
  server: 'Show the code',
  agent: 'Create an agent',
};

export const HOME = {
  welcome: 'Welcome',
  home: 'Home',
  question: 'What do you want to do?',
  started: 'Getting started',
  change: 'Change',
  hide: 'Hide',
  show: 'Show getting started',
  protect: 'Protect an API without code',
  demo: 'Add demo data',
  demoAbout: 'Adds two services, an agent and ten payments. Costs about 1 test USDC.',
};

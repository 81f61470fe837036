// The payment of sdk-payment.mjs in a Node of any version: settings come in, what happened goes out
// as JSON.
import * as sdk from '@quittance/sdk';
import { payingFetch } from '@quittance/sdk/pay';
import { pay } from './sdk-payment.mjs';

const { tokens, ...settings } = JSON.parse(process.argv[2]);
const store = sdk.memoryTokens(tokens);
const said = await pay(sdk, settings, store);
const refreshed = store.load().access_token !== tokens.access_token;
console.log(JSON.stringify({ ...said, paying: typeof payingFetch, refreshed, node: process.version }));

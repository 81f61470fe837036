// pay.ts
import { payingFetch, receiptOf } from '@quittance/sdk/pay';

const { QUITTANCE_URL, DELEGATE_KEY } = process.env;
const pay = payingFetch(fetch, { baseUrl: QUITTANCE_URL!, delegateKey: DELEGATE_KEY!, maxAmount: '$0.10' });
const answer = await pay(process.env.REPORT_URL ?? 'http://127.0.0.1:8402/report');
console.log(await answer.json(), receiptOf(answer)?.amountMicro);

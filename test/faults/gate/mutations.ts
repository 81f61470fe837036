import type { Mutation } from '../mutations/mutation.ts';

/** Rules of the gate. */
export const gateMutations: readonly Mutation[] = [
  {
    name: 'gate-gives-back-what-the-api-failed',
    rule: 'docs/adr/0078: what fails after the payment ends as failed, and is served again',
    traffic: 'gate',
    patches: [
      {
        file: 'gate/src/calls/cost.ts',
        from: 'await delivery?.finish(FAILED);',
        to: 'await delivery?.finish(delivered(null));',
      },
    ],
    faults: ['kill-webhook'],
  },
  {
    name: 'gate-upgrade-costs-nothing',
    rule: 'docs/adr/0078: what asks for an upgrade is an ordinary request, and costs what it costs',
    traffic: 'gate',
    patches: [
      {
        file: 'gate/src/calls/upgrade.ts',
        from: "!== 'upgrade') lines.push(",
        to: "=== 'upgrade') lines.push('asked-for: x'); else lines.push(",
      },
      {
        file: 'gate/src/calls/forward.ts',
        from: 'if (delivery !== null) beginDelivery(',
        to: "if (delivery !== null && request.headers['asked-for'] === undefined) beginDelivery(",
      },
    ],
    faults: ['kill-webhook'],
    breaks: 'delivered-is-charged',
  },
  {
    name: 'gate-repeat-after-a-crash-is-charged',
    rule: 'docs/guides/metered.md: the repeat of a call whose process has died costs nothing more',
    traffic: 'gate',
    patches: [
      {
        file: 'sdk/src/paywall/metered/metered.ts',
        from: 'credit: isRepeat ? perCall : 0n,',
        to: 'credit: 0n,',
      },
    ],
    faults: ['kill-webhook'],
    breaks: 'a-request-is-charged-once',
  },
  {
    name: 'gate-tab-ends-before-others-have-reported',
    rule: 'docs/guides/metered.md: what every replica has used is reported before the capture',
    traffic: 'gate',
    patches: [
      {
        file: 'sdk/src/paywall/metered/tabs.ts',
        from: 'return ceiling - BigInt(left) <= authorization.used();',
        to: 'return ceiling >= BigInt(left);',
      },
    ],
    faults: ['kill-webhook'],
    breaks: 'used-is-captured',
  },
  {
    name: 'gate-stalled-buyer-owes-nothing',
    rule: 'docs/adr/0078: whoever holds an answer up until its upstream gives up has got it',
    traffic: 'gate',
    patches: [
      {
        file: 'gate/src/calls/pass-answer.ts',
        from: "void cost.end(sending.hasHeldUp() ? 'delivered' : 'failed');",
        to: "void cost.end('failed');",
      },
    ],
    faults: ['kill-webhook'],
    breaks: 'delivered-is-charged',
  },
  {
    name: 'gate-refused-reports-are-dropped',
    rule: 'docs/guides/metered.md: use is reported, however long the API takes to accept it',
    traffic: 'gate',
    patches: [
      {
        file: 'sdk/src/paywall/base/usage-reports.ts',
        from: 'failures += 1;',
        to: 'failures += 1; queue.clear();',
      },
    ],
    faults: ['kill-webhook'],
    breaks: 'delivered-is-charged',
  },
  {
    name: 'gate-repeat-without-stored-answers-is-free',
    rule: 'docs/guides/metered.md: with replay: false a repeat is another call',
    traffic: 'gate',
    patches: [
      {
        file: 'sdk/src/paywall/metered/metered.ts',
        from: 'const { begun, left, authorization } = taken;',
        to: `const { begun, authorization } = taken;
          const seen = ((globalThis as any).seen ??= new Set());
          const left = bill.replays || !seen.has(request.key) ? taken.left : null;
          seen.add(request.key);`,
      },
    ],
    faults: ['kill-webhook'],
    breaks: 'delivered-is-charged',
  },
];
